use super::*;
use crate::comparison::{Settings, compare};
use crate::run::{Better, Part, Run, Share, Slice, Threshold, Trust};
use crate::simulated::World;

/// Names that would be markup, move a cursor or break a table, if they were not text.
const HOSTILE: [&str; 9] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "a|b|c\n| d |",
    "`code` **bold** [link](http://x) @someone #1",
    "\u{1b}[31mred\u{1b}[2J",
    "\u{202e}right to left",
    "</details></section></table><!--",
    "&lt;already&gt; {{x}} ${y}",
    "你好你好你好你好你好",
];

/// Two sides whose names are all hostile.
fn hostile() -> Comparison {
    let world = World { routes: 3, failed: 0.02, ..World::default() };
    let [mut a, mut b] = world.sides(3, 1.15, 8);
    let long = "x".repeat(10_000);
    for (place, run) in a.iter_mut().chain(&mut b).enumerate() {
        run.identity.name = HOSTILE[place % HOSTILE.len()].into();
        run.identity.trust = Trust::Invalid(vec![HOSTILE.concat()]);
        run.thresholds = vec![Threshold {
            text: HOSTILE[0].into(),
            passed: place < 3,
            value: Some(100.0 + place as f64),
            is_share: false,
            better: Some(Better::Less),
        }];
        for slice in &mut run.slices {
            let part = slice.all.clone();
            for name in HOSTILE.iter().copied().chain([long.as_str()]) {
                slice.routes.insert(name.into(), part.clone());
                slice.checks.insert(name.into(), Share { hits: 9, total: 10 });
                let sink = part.durations["http_req_duration"].clone();
                slice.all.durations.insert(name.into(), sink);
            }
        }
    }
    for name in HOSTILE {
        a[0].slices[9].routes.insert(format!("{name} a").into(), Part::default());
    }
    compare(&a, &b, &[], &Settings::default()).unwrap()
}

fn plain() -> Comparison {
    let [a, b] = World { failed: 0.01, ..World::default() }.sides(3, 1.15, 8);
    compare(&a, &b, &[], &Settings::default()).unwrap()
}

#[test]
fn lines_fit_every_terminal() {
    for comparison in [plain(), hostile()] {
        for columns in 40..=200 {
            for line in terminal(&comparison, columns, false).lines() {
                assert!(text::width(line) <= columns, "{columns}: {line}");
                assert!(!line.contains(|char: char| char.is_control() || char == '\u{202e}'));
            }
        }
        assert_eq!(terminal(&comparison, 0, false), terminal(&comparison, 40, false));
        assert_eq!(terminal(&comparison, 9999, false), terminal(&comparison, 200, false));
    }
}

#[test]
fn colours_change_nothing_but_colours() {
    let comparison = hostile();
    let mut bare = terminal(&comparison, 120, true);
    assert!(bare.contains("\x1b[31m"));
    while let Some(start) = bare.find("\x1b[") {
        let end = start + bare[start..].find('m').expect("the end of a colour");
        bare.replace_range(start..=end, "");
    }
    assert_eq!(bare, terminal(&comparison, 120, false));
}

#[test]
fn a_terminal_shows_values_changes_bars_and_verdicts() {
    let told = terminal(&plain(), 120, false);
    assert!(told.starts_with("B is worse than A: "), "{told}");
    let line = told.lines().skip(1).find(|line| line.contains("http_req_duration p95")).unwrap();
    for part in [" ms", "+1", " %", "●", "worse"] {
        assert!(line.contains(part), "{line}");
    }
    assert!(told.contains("The verdict rests on the figures with *."), "{told}");
    let narrow = terminal(&plain(), 40, false);
    let line = narrow.lines().find(|line| line.contains("p50") && !line.contains("worse than"));
    assert!(line.is_some_and(|line| line.contains('+')), "{narrow}");
}

#[test]
fn html_has_no_markup_but_ours() {
    let told = html(&hostile());
    for tag in told.split('<').skip(1) {
        let name: String =
            tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
        let ours = [
            "section", "style", "h2", "h3", "p", "br", "table", "thead", "tbody", "tr", "th", "td",
            "span", "strong", "details", "summary", "svg", "path", "circle",
        ];
        assert!(ours.contains(&name.as_str()), "<{name}");
        let attributes = tag.split('>').next().unwrap_or_default();
        let is_harmless = ["onerror", "src", "href", "http", "url("];
        let is_harmless = is_harmless.iter().all(|word| !attributes.contains(word));
        assert!(is_harmless, "{attributes}");
    }
    for name in ["section", "table", "tbody", "tr", "td", "details", "svg", "span"] {
        let opened =
            told.matches(&format!("<{name}>")).count() + told.matches(&format!("<{name} ")).count();
        assert_eq!(opened, told.matches(&format!("</{name}>")).count(), "{name}");
    }
    assert!(told.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn rows_of_markdown_have_seven_bars() {
    let told = markdown(&hostile());
    for line in told.lines().filter(|line| line.starts_with('|')) {
        assert_eq!(line.matches('|').count(), 7, "{line}");
    }
    assert!(!told.contains("<script") && !told.contains("<img") && !told.contains("@someone"));
    assert_eq!(told.matches("<details>").count(), told.matches("</details>").count());
    assert!(told.starts_with("### 🔴 B is worse than A"), "{told}");
}

#[test]
fn json_has_every_row_and_its_keys() {
    let comparison = hostile();
    let told = json(&comparison);
    assert_eq!(told["rows"].as_array().unwrap().len(), comparison.rows.len());
    let back: serde_json::Value = serde_json::from_str(&told.to_string()).unwrap();
    assert_eq!(back["rows"].as_array().unwrap().len(), comparison.rows.len());
    let row = &told["rows"][0];
    let keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys.join(" "),
        "subject name measure metric statistic primary better runs_a runs_b a b scale change low high p \
         p_corrected p_permutation p_permutation_least held_a held_b verdict why why_sentence"
    );
    let keys: Vec<&str> = told.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys.join(" "),
        "version verdict headline tolerance tolerance_points a b draws rows routes_only_a routes_only_b warnings"
    );
    let names: Vec<&str> =
        told["rows"].as_array().unwrap().iter().filter_map(|row| row["name"].as_str()).collect();
    assert!(names.contains(&HOSTILE[0]) && names.contains(&HOSTILE[4]));
}

#[test]
fn the_guide_tells_every_key_of_json() {
    let guide = include_str!("../../../../docs/guide/compare.md");
    let told = json(&plain());
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    let run = &told["a"]["runs"][0];
    for key in keys(&told).into_iter().chain(keys(&told["rows"][0])).chain(keys(run)) {
        assert!(guide.contains(&format!("`{key}`")), "docs/guide/compare.md has no `{key}`");
    }
}

#[test]
fn many_routes_are_counted_not_printed() {
    let world = World { routes: 40, load: crate::simulated::Load::Open(400.0), ..World::default() };
    let [a, b] = world.sides(3, 1.0, 8);
    let comparison = compare(&a, &b, &[], &Settings::default()).unwrap();
    let told = terminal(&comparison, 100, false);
    assert!(told.lines().count() < 130, "{}", told.lines().count());
    assert!(told.contains(" more figures: "), "{told}");
}

#[test]
fn a_comparison_of_next_to_nothing_is_told() {
    let runs = [Run { slices: vec![Slice { width_s: 0.3, ..Slice::default() }], ..Run::default() }];
    let comparison = compare(&runs, &runs, &[], &Settings::default()).unwrap();
    assert_eq!(comparison.verdict, Verdict::Unclear);
    assert!(terminal(&comparison, 80, false).starts_with("It is unclear"));
    assert!(markdown(&comparison).contains("It is unclear"));
    assert!(html(&comparison).contains("It is unclear"));
    assert_eq!(json(&comparison)["verdict"], "unclear");
}
