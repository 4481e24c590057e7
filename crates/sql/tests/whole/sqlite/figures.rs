//! The price of SQLite: `cargo test --profile fast -p brunt-sql --test whole sqlite::figures -- --ignored --nocapture`.

use std::fs;
use std::time::Instant;

use brunt_sql::{Args, Ask, Cell, Chunk, Insert, Way};

use super::{Folder, open};
use crate::support::{exec, on_a_core};

/// The processor's seconds of this process.
fn cpu() -> f64 {
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / TICKS
}

fn told(name: &str, count: usize, began: Instant, cpu_before: f64) {
    let (wall, cpu) = (began.elapsed().as_secs_f64(), cpu() - cpu_before);
    #[expect(clippy::cast_precision_loss, reason = "a number for people")]
    let count = count as f64;
    let (rate, each) = (count / wall, cpu * 1e6 / count);
    println!("{name}: {wall:.2} s, {rate:.0}/s, {each:.2} µs of the processor each");
}

#[test]
#[ignore = "it measures"]
fn a_million_rows_and_point_queries() {
    const ROWS: usize = 1_000_000;
    const PART: usize = 10_000;
    on_a_core(async {
        let folder = Folder::new("figures");
        let mut db = open(&folder.file("a.db")).await.unwrap();
        let table =
            "CREATE TABLE bulktest (id INTEGER PRIMARY KEY AUTOINCREMENT, text VARCHAR(45))";
        let columns = ["text".to_owned()];
        for batch in [Some(1), Some(8), Some(64), Some(500), None] {
            exec(&mut db, "DROP TABLE IF EXISTS bulktest", &[]).await.unwrap();
            exec(&mut db, table, &[]).await.unwrap();
            let (began, before) = (Instant::now(), cpu());
            let mut values = Args::new();
            for part in 0..ROWS / PART {
                values.clear();
                for row in 0..PART {
                    let text = format!("{:045}", part * PART + row);
                    values.push(Cell::Text(text.as_bytes()));
                }
                let way = Way::Fastest;
                let insert =
                    Insert { table: "bulktest", columns: &columns, values: &values, way, batch };
                db.insert(&insert).await.unwrap();
            }
            told(&format!("insert {batch:?}"), ROWS, began, before);
        }
        let (began, before) = (Instant::now(), cpu());
        let ask =
            Ask { sql: "SELECT id, text FROM bulktest", args: &Args::new(), is_prepared: false };
        db.start(&ask).await.unwrap();
        let (mut chunk, mut sum, mut bytes) = (Chunk::default(), 0, 0);
        let columns = db.columns();
        while db.next(&mut chunk).await.unwrap() {
            for row in 0..chunk.len() {
                let sink = |_, cell: Cell<'_>| {
                    match cell {
                        Cell::Int(id) => sum += id,
                        Cell::Text(text) => bytes += text.len(),
                        _ => return Err(()),
                    }
                    Ok(())
                };
                chunk.read(row, &columns, sink).unwrap();
            }
        }
        assert_eq!((sum, bytes), (500_000_500_000, 45 * ROWS));
        told("select", ROWS, began, before);
        let (began, before) = (Instant::now(), cpu());
        const QUERIES: usize = 100_000;
        for index in 0..QUERIES {
            let mut args = Args::new();
            args.push(Cell::Int(i64::try_from(index * 7 % ROWS + 1).unwrap()));
            let sql = "SELECT text FROM bulktest WHERE id = ?";
            db.start(&Ask { sql, args: &args, is_prepared: false }).await.unwrap();
            assert!(db.next(&mut chunk).await.unwrap());
            assert!(!db.next(&mut chunk).await.unwrap());
        }
        told("point query", QUERIES, began, before);
    });
}
