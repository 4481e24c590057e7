//! Documents to parse: `/json` and `/html`.

use hyper::header::HeaderValue;
use serde::Serialize;
use serde_json::json;

use crate::call::Call;
use crate::dice::mix;
use crate::reply::{self, Refusal, Reply};

/// The maximum number of items in one document, about 700 kB.
const ITEMS_MAX: u64 = 10_000;

/// A small record.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Record {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) price: f64,
    pub(super) tags: [&'static str; 2],
}

const NAMES: [&str; 8] =
    ["anvil", "bellows", "chisel", "drill", "easel", "file", "gouge", "hammer"];
const TAGS: [&str; 6] = ["iron", "wood", "small", "large", "new", "used"];

/// The record of this id, the same in every run.
pub(super) fn record(id: u64) -> Record {
    let dice = mix(id);
    Record {
        id,
        name: format!("{} {id}", NAMES[(dice % 8) as usize]),
        price: (100 + (dice >> 8) % 9900) as f64 / 100.0,
        tags: [TAGS[(dice >> 24) as usize % 3], TAGS[3 + (dice >> 32) as usize % 3]],
    }
}

/// Records from `from` + 1 on.
pub(super) fn items(from: u64, count: u64) -> Vec<Record> {
    (1..=count).map(|n| record(from + n)).collect()
}

/// `{"items":[…],"total":n}` with `n` items (default 10).
pub(super) fn json(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let count = call.query().parsed("n", 10u64)?.min(ITEMS_MAX);
    let text = call.compute(|| json!({ "items": items(0, count), "total": count }).to_string());
    Ok(reply::typed(HeaderValue::from_static("application/json"), text))
}

const PAGE: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Brunt demo</title>
  <link rel="stylesheet" href="/anything/style.css">
</head>
<body>
  <h1 id="title">A page with forms</h1>
  <ul class="links">
    <li><a href="/json">records</a></li>
    <li><a href="/redirect/2">two redirects</a></li>
    <li><a href="/status/404" rel="nofollow">nothing</a></li>
  </ul>
  <form id="login" action="/anything/login" method="post">
    <input type="hidden" name="csrf" value="4f2a&amp;9c">
    <label>User <input type="text" name="user" value="ada"></label>
    <label>Password <input type="password" name="password"></label>
    <label><input type="checkbox" name="remember" value="yes" checked> Remember me</label>
    <select name="language">
      <option value="de">German</option>
      <option value="en" selected>English</option>
    </select>
    <textarea name="note">two
lines</textarea>
    <button type="submit" name="go" value="login">Log in</button>
  </form>
  <form id="search" action="/anything/search" method="get">
    <input type="search" name="q">
  </form>
  <form id="upload" action="/upload/detect" method="post" enctype="multipart/form-data">
    <input type="file" name="file">
  </form>
  <table id="records">
    <tr><th>id</th><th>name</th></tr>
    <tr><td>1</td><td>anvil</td></tr>
    <tr><td>2</td><td>bellows</td></tr>
  </table>
</body>
</html>
"#;

/// A page with links, forms and a table.
pub(super) fn html() -> Reply {
    reply::typed(HeaderValue::from_static("text/html; charset=utf-8"), PAGE)
}
