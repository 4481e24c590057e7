use brunt_sql::{Cell, Moment};

use super::{connected, database};
use crate::support::{exec, on_a_core, query};

const TABLE: &str = "CREATE TABLE v (
    ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, mi MEDIUMINT, i INT, iu INT UNSIGNED, bi BIGINT,
    bu BIGINT UNSIGNED, y YEAR, b BOOLEAN, f FLOAT, d DOUBLE, de DECIMAL(20,5), da DATE, dt DATETIME(3),
    ts TIMESTAMP NULL, t TIME(2), c CHAR(3), vc VARCHAR(9), tx TEXT, bl BLOB, vb VARBINARY(9), e ENUM('x','y'),
    s SET('p','q'), bit12 BIT(12), js JSON)";

const ROW: &str = "INSERT INTO v VALUES (-128, 255, -32768, -8388608, -2147483648, 4294967295, -9223372036854775808,
    18446744073709551615, 2026, TRUE, 1.5, -2.25, 123.45, '2024-02-29', '2024-02-29 12:34:56.789',
    '2024-02-29 12:34:56', '-101:02:03.45', 'abc', 'gr\u{fc}n', '', x'00ff', x'01', 'y', 'p,q', b'100000000001', '{\"a\":1}')";

const EXPECTED: [&str; 26] = [
    "-128",
    "255",
    "-32768",
    "-8388608",
    "-2147483648",
    "4294967295",
    "-9223372036854775808",
    "u18446744073709551615",
    "2026",
    "1",
    "s1.5",
    "f-2.25",
    "raw 123.45000",
    "raw 2024-02-29",
    "raw 2024-02-29 12:34:56.789",
    "raw 2024-02-29 12:34:56",
    "raw -101:02:03.45",
    "raw abc",
    "raw gr\u{fc}n",
    "raw ",
    "bytes [0, 255]",
    "bytes [1]",
    "raw y",
    "raw p,q",
    "bytes [8, 1]",
    "raw {\"a\":1}",
];

const NAMES: [&str; 26] = [
    "TINYINT",
    "UNSIGNED TINYINT",
    "SMALLINT",
    "MEDIUMINT",
    "INT",
    "UNSIGNED INT",
    "BIGINT",
    "UNSIGNED BIGINT",
    "YEAR",
    "TINYINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
    "DATE",
    "DATETIME",
    "TIMESTAMP",
    "TIME",
    "CHAR",
    "VARCHAR",
    "TEXT",
    "BLOB",
    "VARBINARY",
    "ENUM",
    "SET",
    "BIT",
    "LONGTEXT",
];

#[test]
fn each_type_is_the_same_in_both_protocols() {
    on_a_core(async {
        let mut it = connected(&database(), "").await;
        exec(&mut it, TABLE, &[]).await.unwrap();
        exec(&mut it, ROW, &[]).await.unwrap();
        exec(&mut it, "INSERT INTO v (i) VALUES (NULL)", &[]).await.unwrap();
        let in_text = query(&mut it, "SELECT * FROM v", &[]).await.unwrap();
        assert_eq!(in_text[0], EXPECTED);
        let in_binary = query(&mut it, "SELECT * FROM v WHERE 1 = ?", &[Cell::Int(1)]).await;
        let in_binary = in_binary.unwrap();
        assert_eq!(in_binary[0], EXPECTED);
        assert_eq!(in_text[1], vec!["NULL"; 26]);
        assert_eq!(in_binary[1], vec!["NULL"; 26]);
    });
}

#[test]
fn columns_have_the_names_of_the_go_driver() {
    on_a_core(async {
        let mut it = connected(&database(), "columnsWithAlias=true").await;
        exec(&mut it, TABLE, &[]).await.unwrap();
        let ask = brunt_sql::Ask {
            sql: "SELECT * FROM v AS w",
            args: &brunt_sql::Args::new(),
            is_prepared: false,
        };
        it.start(&ask).await.unwrap();
        let columns = it.columns();
        let names: Vec<_> = columns.iter().map(|column| column.type_name.as_str()).collect();
        // MariaDB says of LONGTEXT what it says of all texts.
        assert_eq!(names[..25], NAMES[..25]);
        assert!(["TEXT", "LONGTEXT", "JSON"].contains(&names[25]));
        assert_eq!((columns[0].name.as_str(), columns[0].table.as_str()), ("w.ti", "v"));
        assert_eq!((columns[12].decimals, columns[14].decimals), (Some(5), Some(3)));
        assert!(columns.iter().all(|column| column.nullable == Some(true)));
        let mut chunk = brunt_sql::Chunk::default();
        assert!(!it.next(&mut chunk).await.unwrap());
        assert!(it.is_idle());
    });
}

#[test]
fn dates_are_moments_of_the_zone_that_the_dsn_names() {
    on_a_core(async {
        let mut it = connected("", "parseTime=true&loc=Europe%2FBerlin").await;
        let sql = "SELECT CAST('2024-07-01 12:00:00.25' AS DATETIME(2)), CAST('2024-01-01' AS DATE), \
                   TIME '10:00:00', CAST('0000-00-00' AS DATE)";
        let text = query(&mut it, sql, &[]).await.unwrap().remove(0);
        let summer = "time 1719828000.250000000+7200";
        assert_eq!(text[..3], [summer, "time 1704063600.000000000+3600", "raw 10:00:00"]);
        let sql = format!("{sql} FROM DUAL WHERE 1 = ?");
        let binary = query(&mut it, &sql, &[Cell::Int(1)]).await.unwrap().remove(0);
        assert_eq!(text, binary);
        let moment = Moment { unix_seconds: 1_719_828_000, nanos: 250_000_000, offset_seconds: 0 };
        let back = query(&mut it, "SELECT ?", &[Cell::Time(moment)]).await.unwrap().remove(0);
        assert_eq!(back, ["raw 2024-07-01 12:00:00.250"]);
    });
}

#[test]
fn arguments_arrive_as_they_are() {
    let cells = [
        Cell::Null,
        Cell::Bool(true),
        Cell::Int(i64::MIN),
        Cell::UInt(u64::MAX),
        Cell::Float(0.1),
        Cell::Text("it's gr\u{fc}n \\ \u{1f600}".as_bytes()),
        Cell::Text(b""),
    ];
    let expected = [
        "NULL",
        "1",
        "-9223372036854775808",
        "u18446744073709551615",
        "f0.1",
        "raw it's gr\u{fc}n \\ \u{1f600}",
        "raw ",
    ];
    on_a_core(async {
        let mut it = connected("", "").await;
        let row = query(&mut it, "SELECT ?, ?, ?, ?, ?, ?, ?", &cells).await.unwrap().remove(0);
        assert_eq!(row, expected);
        let mut it = connected("", "interpolateParams=true").await;
        let sql = "SELECT ?, ?, ?, ?, ?, ?, ? /* ? */, '?'";
        let row = query(&mut it, sql, &cells).await.unwrap().remove(0);
        assert_eq!(row[..7], expected);
        let sql = "SET sql_mode = 'NO_BACKSLASH_ESCAPES'";
        exec(&mut it, sql, &[]).await.unwrap();
        let row = query(&mut it, "SELECT ?", &cells[5..6]).await.unwrap().remove(0);
        assert_eq!(row, expected[5..6]);
    });
}

#[test]
fn a_row_of_more_than_16_mib_comes_whole() {
    on_a_core(async {
        let mut it = connected("", "").await;
        for cells in [&[][..], &[Cell::Int(17 << 20)]] {
            let sql = if cells.is_empty() {
                "SELECT REPEAT('x', 17 << 20), 7 UNION ALL SELECT 'y', 8"
            } else {
                "SELECT REPEAT('x', ?), 7 UNION ALL SELECT 'y', 8"
            };
            let all = query(&mut it, sql, cells).await.unwrap();
            assert_eq!((all[0][0].len(), all[0][1].as_str()), ((17 << 20) + 4, "7"));
            assert_eq!(all[1], ["raw y", "8"]);
        }
        let long = vec![b'z'; (16 << 20) + 5];
        let all = query(&mut it, "SELECT LENGTH(?)", &[Cell::Text(&long)]).await.unwrap();
        assert_eq!(all[0], [((16 << 20) + 5).to_string()]);
    });
}
