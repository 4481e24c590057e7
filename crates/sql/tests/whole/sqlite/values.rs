//! Values and arguments.

use brunt_sql::{Cell, Moment, Trouble};

use super::memory;
use crate::support::{exec, on_a_core, query};

#[test]
fn values_are_read_by_the_declared_type_of_their_column() {
    on_a_core(async {
        let mut db = memory().await;
        for (declared, literal, expected) in [
            ("INTEGER", "42", "42"),
            ("INTEGER", "-9223372036854775808", "-9223372036854775808"),
            ("REAL", "1.5", "f1.5"),
            ("TEXT", "'é'", "text é"),
            ("BLOB", "x'0001ff'", "bytes [0, 1, 255]"),
            ("BLOB", "x''", "bytes []"),
            ("BOOLEAN", "42", "bool true"),
            ("boolean", "-1", "bool false"),
            ("BOOLEAN", "1.5", "f1.5"),
            ("BOOLEAN", "'text'", "text text"),
            ("BOOL", "1", "1"),
            ("DATE", "42", "time 42.000000000+0"),
            ("DATE", "1709210096789", "time 1709210096.789000000+0"),
            ("DATETIME", "'2024-02-29 12:34:56'", "time 1709210096.000000000+0"),
            ("timestamp", "'2024-02-29 12:34:56+02:00'", "time 1709202896.000000000+7200"),
            ("DATE", "'text'", "time -62135596800.000000000+0"),
            ("DATE", "1.5", "f1.5"),
            ("DATE", "x'00'", "bytes [0]"),
            ("TIME", "'12:34'", "text 12:34"),
            ("DATE", "NULL", "NULL"),
        ] {
            exec(&mut db, &format!("CREATE TABLE t (v {declared})"), &[]).await.unwrap();
            exec(&mut db, &format!("INSERT INTO t VALUES ({literal})"), &[]).await.unwrap();
            let rows = query(&mut db, "SELECT v FROM t", &[]).await.unwrap();
            assert_eq!(rows, [[expected]], "{declared} {literal}");
            exec(&mut db, "DROP TABLE t", &[]).await.unwrap();
        }
        let rows = query(&mut db, "SELECT date('2024-02-29'), 1 = 1, 1e400", &[]).await.unwrap();
        assert_eq!(rows, [["text 2024-02-29", "1", "finf"]]);
    });
}

#[test]
fn arguments_are_bound_as_the_go_driver_binds_them() {
    on_a_core(async {
        let mut db = memory().await;
        let date = Moment { unix_seconds: 1_709_210_096, nanos: 789_000_000, offset_seconds: 0 };
        for (cell, expected) in [
            (Cell::Text("it's é".as_bytes()), "text it's é"),
            (Cell::Text(b"a\0b"), "text a\0b"),
            (Cell::Text(b""), "text "),
            (Cell::Bool(true), "1"),
            (Cell::Null, "NULL"),
            (Cell::Float(f64::NAN), "NULL"),
            (Cell::Float(f64::INFINITY), "finf"),
            (Cell::Int(i64::MAX), "9223372036854775807"),
            (Cell::Bytes(b"\0\xff"), "bytes [0, 255]"),
            (Cell::Bytes(b""), "bytes []"),
            (Cell::Time(date), "text 2024-02-29 12:34:56.789+00:00"),
        ] {
            assert_eq!(query(&mut db, "SELECT ?", &[cell]).await.unwrap(), [[expected]]);
        }
        let two = [Cell::Int(1), Cell::Int(2)];
        for (sql, expected) in [
            ("SELECT $1, $2", ["1", "2"]),
            ("SELECT $2, $1", ["1", "2"]),
            ("SELECT ?2, ?1", ["2", "1"]),
            ("SELECT @a, @b", ["1", "2"]),
        ] {
            assert_eq!(query(&mut db, sql, &two).await.unwrap(), [expected], "{sql}");
        }
        // One too many is not looked at.
        assert_eq!(query(&mut db, "SELECT ?", &two).await.unwrap(), [["1"]]);
        let failure = query(&mut db, "SELECT ?, ?", &two[..1]).await.unwrap_err();
        assert_eq!(failure.text(), "not enough args to execute query: want 2 got 1");
        assert_eq!(failure.trouble(), Trouble::Usage);
        let failure = query(&mut db, "SELECT ?", &[Cell::UInt(u64::MAX)]).await.unwrap_err();
        assert_eq!(
            failure.text(),
            "sql: converting argument $1 type: uint64 values with high bit set are not supported"
        );
        let many = format!("SELECT 1 WHERE 1 IN ({}?)", "?, ".repeat(32_766));
        let all = vec![Cell::Int(1); 32_767];
        let failure = query(&mut db, &many, &all).await.unwrap_err();
        assert_eq!(failure.text(), "too many SQL variables");
    });
}

#[test]
fn columns_tell_their_names_and_declared_types() {
    on_a_core(async {
        let mut db = memory().await;
        exec(&mut db, "CREATE TABLE t (id INTEGER PRIMARY KEY, at TIMESTAMP)", &[]).await.unwrap();
        query(&mut db, "SELECT id, at AS x, 1 + 1 FROM t", &[]).await.unwrap();
        let columns = db.columns();
        let told: Vec<_> =
            columns.iter().map(|it| (it.name.as_str(), it.type_name.as_str())).collect();
        assert_eq!(told, [("id", "INTEGER"), ("x", "TIMESTAMP"), ("1 + 1", "")]);
        // The table changes under a statement that is kept.
        exec(&mut db, "INSERT INTO t VALUES (1, 0)", &[]).await.unwrap();
        assert_eq!(query(&mut db, "SELECT * FROM t", &[]).await.unwrap()[0].len(), 2);
        exec(&mut db, "ALTER TABLE t ADD COLUMN more BOOLEAN DEFAULT 1", &[]).await.unwrap();
        let rows = query(&mut db, "SELECT * FROM t", &[]).await.unwrap();
        assert_eq!(rows, [["1", "time 0.000000000+0", "bool true"]]);
        assert_eq!(db.columns()[2].name, "more");
    });
}
