use brunt_sql::{Cell, Moment};

use super::{connected, database};
use crate::support::{exec, on_a_core, query};

#[test]
fn values_are_what_the_go_driver_hands_over() {
    on_a_core(async {
        let mut it = connected("shop", "timezone=Europe/Berlin").await;
        for (value, expected) in [
            ("1::int2", "1"),
            ("(-2147483648)::int4", "-2147483648"),
            ("(-9223372036854775808)::int8", "-9223372036854775808"),
            ("1.1::float4", "f1.1"),
            ("'NaN'::float8", "fNaN"),
            ("'-Infinity'::float8", "f-inf"),
            ("true", "bool true"),
            ("'x'::text", "text x"),
            ("'x'::varchar", "text x"),
            ("'x'::char(3)", "text x  "),
            ("'x'::\"char\"", "text x"),
            ("'\\x00ff'::bytea", "bytes [0, 255]"),
            ("''::bytea", "bytes []"),
            ("NULL::int", "NULL"),
            ("date '2024-02-29'", "time 1709164800.000000000+0"),
            ("timestamp '2024-02-29 12:34:56.789'", "time 1709210096.789000000+0"),
            ("timestamptz '2024-02-29 12:34:56.789+00'", "time 1709210096.789000000+3600"),
            ("time '12:34:56'", "time -62167173904.000000000+0"),
            ("timestamp 'infinity'", "raw infinity"),
            ("date '0044-03-15 BC'", "time -63517824000.000000000+0"),
            ("1.10::numeric(10,2)", "raw 1.10"),
            ("'{\"a\": 1}'::jsonb", "raw {\"a\": 1}"),
            ("ARRAY[1,NULL]", "raw {1,NULL}"),
            ("interval '1 day'", "raw 1 day"),
            ("'::1'::inet", "raw ::1"),
        ] {
            let sql = format!("SELECT {value}");
            for prepared in [false, true] {
                let args = [Cell::Int(1)];
                let sql = if prepared { format!("{sql} WHERE 1 = $1") } else { sql.clone() };
                let args = if prepared { &args[..] } else { &[] };
                let rows = query(&mut it, &sql, args).await.unwrap();
                assert_eq!(rows, [[expected]], "{sql}");
            }
        }
        query(&mut it, "SET bytea_output = 'escape'", &[]).await.unwrap();
        let rows = query(&mut it, "SELECT '\\x00615cff'::bytea", &[]).await.unwrap();
        assert_eq!(rows, [["bytes [0, 97, 92, 255]"]]);
    });
}

#[test]
fn arguments_arrive_as_they_were() {
    on_a_core(async {
        let mut it = connected(&database(), "").await;
        let sql =
            "CREATE TABLE t (a bool, b int8, c float8, d text, e bytea, f timestamptz, g int)";
        exec(&mut it, sql, &[]).await.unwrap();
        let moment =
            Moment { unix_seconds: -62_135_596_801, nanos: 5_000_000, offset_seconds: 3600 };
        let cells = [
            Cell::Bool(true),
            Cell::Int(i64::MIN),
            Cell::Float(-1.5e-3),
            Cell::Text("it's \\ \u{fc}".as_bytes()),
            Cell::Bytes(&[0, 255, b'\\']),
            Cell::Time(moment),
            Cell::Null,
        ];
        let sql = "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7)";
        assert_eq!(exec(&mut it, sql, &cells).await.unwrap().rows_affected, Some(1));
        let rows = query(&mut it, "SET timezone = 'UTC'; SELECT * FROM t", &[]).await;
        assert_eq!(rows.unwrap(), [] as [[&str; 0]; 0]);
        let rows = query(&mut it, "SELECT * FROM t", &[]).await.unwrap();
        let expected = [
            "bool true",
            "-9223372036854775808",
            "f-0.0015",
            "text it's \\ \u{fc}",
            "bytes [0, 255, 92]",
            "time -62135596801.005000000+0",
            "NULL",
        ];
        assert_eq!(rows, [expected]);
    });
}

#[test]
fn columns_have_the_names_of_the_go_driver() {
    on_a_core(async {
        let mut it = connected("shop", "").await;
        let sql =
            "SELECT 1 AS \"A\", 'x'::varchar(45) AS b, 1.5::numeric(10,2) AS c, ARRAY['x'] AS d";
        let args = brunt_sql::Args::new();
        it.start(&brunt_sql::Ask { sql, args: &args, is_prepared: false }).await.unwrap();
        let columns = it.columns();
        let told = columns
            .iter()
            .map(|it| format!("{} {} {:?} {:?}", it.name, it.type_name, it.length, it.decimals));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                "A INT4 Some(4) None",
                "b VARCHAR Some(45) None",
                "c NUMERIC Some(10) Some(2)",
                "d _TEXT None None",
            ]
        );
    });
}
