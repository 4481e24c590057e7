//! `examples/image-handler`: the benchmark runs as it is told there, and shows what it promises.

use std::{collections::HashMap, process::Command};

use crate::support::repository;

/// Two seconds at 400/s and 800/s are enough to see the plateau: 200 good answers per second.
#[test]
fn the_benchmark_shows_plateau_and_cold_start() {
    let folder = tempfile::tempdir().unwrap();
    let told = Command::new("sh")
        .arg(repository("examples").join("image-handler/run.sh"))
        .args(["2", "400"])
        .env("BRUNT", env!("CARGO_BIN_EXE_brunt"))
        .env("OUT", folder.path())
        .output()
        .unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    assert!(told.status.success(), "{stdout}\n{stderr}");
    let rows: HashMap<&str, Vec<f64>> = stdout
        .lines()
        .map(|line| line.split_whitespace())
        .filter_map(|mut words| {
            let name =
                words.next().filter(|name| name.starts_with("old-") || name.starts_with("new-"))?;
            Some((name, words.map_while(|word| word.parse().ok()).collect()))
        })
        .filter(|(_, numbers): &(_, Vec<f64>)| numbers.len() == 7)
        .collect();
    assert_eq!(rows.len(), 4, "{stdout}");
    for (name, numbers) in &rows {
        assert!(numbers[2] == 0.0, "{name} failed otherwise than by 429: {stdout}");
    }
    // A server cannot make more than 200 a second; how many fewer is the machine's business.
    for name in ["old-400", "old-800"] {
        let (good, refused) = (rows[name][0], rows[name][1]);
        assert!(good > 50.0 && good <= 420.0 && refused > 0.0, "{name}: {stdout}");
    }
    assert!(rows["new-800"][0] > 2.0 * rows["old-800"][0], "{stdout}");
    assert!(std::fs::read_to_string(folder.path().join("plot.html")).unwrap().contains("<html"));
}

#[test]
fn its_targets_are_the_hundred_widths() {
    let told = Command::new("sh")
        .arg(repository("examples").join("image-handler/targets.sh"))
        .arg("http://127.0.0.1:1")
        .output()
        .unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    let widths: Vec<u32> = text
        .lines()
        .map(|line| {
            let rest = line
                .strip_prefix("GET http://127.0.0.1:1/example.jpg?x-oss-process=image/resize,w_")
                .unwrap();
            rest.split('/').next().unwrap().parse().unwrap()
        })
        .collect();
    assert_eq!(widths, (100..200).collect::<Vec<_>>());
}
