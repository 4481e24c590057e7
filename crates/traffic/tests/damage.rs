//! HAR files that are damaged, or none.

use brunt_traffic::har::{self, HarError};

const ENTRY: &str =
    r#"{"request": {"method": "GET", "url": "http://a.test/"}, "response": {"status": 200}}"#;

fn log(entries: &[&str]) -> String {
    format!("{{\"log\": {{\"version\": \"1.2\",\n\"entries\": [\n{}\n]}}}}", entries.join(",\n"))
}

fn message(text: impl AsRef<[u8]>) -> String {
    har::read(text.as_ref()).expect_err("it can't be read").to_string()
}

#[test]
fn a_truncated_file_says_where_and_how_many_entries_are_whole() {
    let whole = log(&[ENTRY, ENTRY, ENTRY]);
    let cut = &whole[..whole.len() - 30];
    let error = har::read(cut.as_bytes()).expect_err("it is cut off");
    let expected = (4 + 1, 3, 2);
    match &error {
        HarError::Truncated { line, place, whole, .. } => {
            assert_eq!((*line, place.as_str(), *whole), (expected.0, "entry 3", expected.2));
        }
        other => panic!("{other:?}"),
    }
    let text = error.to_string();
    assert!(text.starts_with("5:") && text.contains("2 entries before it are whole"), "{text}");
    assert!(message(&whole[..20]).contains("in the middle of the log; no entry before it"));
    // Wherever it is cut, it is an error that has a place.
    for end in 1..whole.len() {
        let error = har::read(&whole.as_bytes()[..end]).expect_err("it is cut off");
        assert!(error.has_place(), "{end}: {error}");
    }
}

#[test]
fn a_wrong_sign_has_its_line_and_column() {
    let text = log(&[ENTRY, r#"{"request": x}"#]);
    assert!(
        message(&text).starts_with("4:13: no valid JSON in entry 2: expected value;"),
        "{}",
        message(&text)
    );
    let nul = log(&["{\"a\": \"\0\"}"]);
    assert!(message(nul).contains("in entry 1: control character"));
}

#[test]
fn other_files_are_told_from_har_files() {
    assert_eq!(message(""), "the file is empty");
    assert_eq!(message("\u{feff} \n\0\0"), "the file is empty");
    assert!(message("<html>").contains("it does not begin with {"));
    assert!(message("[1]").contains("no object with `log` and `entries`"));
    assert!(message("{}").contains("no list `log.entries`"));
    assert!(message(r#"{"log": 7}"#).contains("no object with `log`"));
    assert!(message(log(&[])).contains("its list of entries is empty"));
    assert!(message(log(&["7"])).contains("left out: 1 entries without a request"));
}

#[test]
fn marks_padding_and_utf16_are_read() {
    let text = log(&[ENTRY]);
    let read = |bytes: &[u8]| har::read(bytes).map(|recording| recording.exchanges.len());
    assert_eq!(read(format!("\u{feff}{text}\r\n\0\0\0").as_bytes()), Ok(1));
    let mut wide = vec![0xff, 0xfe];
    wide.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(read(&wide), Ok(1));
    let mut wrong = text.replace("GET", "GET\", \"x\": \"?").into_bytes();
    let at = wrong.iter().position(|byte| *byte == b'?').expect("a mark");
    wrong[at] = 0xff;
    assert_eq!(read(&wrong), Ok(1), "bytes that are no UTF-8");
    assert_eq!(read(format!(r#"{{"entries": [{ENTRY}]}}"#).as_bytes()), Ok(1));
}

#[test]
fn depth_and_length_have_no_cost_but_their_own() {
    let deep = "[".repeat(50_000) + &"]".repeat(50_000);
    let entry = format!(
        r#"{{"x": {deep}, "request": {{"url": "http://a.test/"}}, "response": {{"status": 200}}}}"#
    );
    // It may be read or left out; it is no panic.
    let _ = har::read(log(&[&entry, ENTRY]).as_bytes()).expect("one entry is left");
}
