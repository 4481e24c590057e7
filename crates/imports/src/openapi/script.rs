//! `script.ts`: an example that calls each operation once.

use serde_json::{Map, Value as Json};
use std::fmt::Write as _;

use super::document::Document;
use super::operation::{Body, Kind, Operation, Scheme};
use super::text::{access, line, literal, member};
use super::types::is_binary;

/// The settings of editors and `tsc`.
pub(super) const TSCONFIG: &str = r#"{
  "compilerOptions": {
    "strict": true,
    "noEmit": true,
    "target": "es2022",
    "module": "esnext",
    "moduleResolution": "bundler",
    "allowImportingTsExtensions": true,
    "types": ["k6"]
  },
  "files": ["script.ts"]
}
"#;

/// Writes the script.
pub(super) fn write(
    document: &Document,
    operations: &[Operation],
    schemes: &[Scheme],
    base_url: &str,
    data: &Map<String, Json>,
) -> String {
    let sends_files = operations
        .iter()
        .any(|own| own.body.as_ref().is_some_and(|body| !files(document, body).is_empty()));
    let mut out = format!(
        "// Calls each operation of {} once, with the examples of data.json. Made by brunt convert: change it\n// into what your users do.\n",
        line(&document.title())
    );
    if !schemes.is_empty() {
        out.push_str("//\n// Credentials are in secrets.env: brunt run --secret-source=file=secrets.env script.ts\n");
    }
    out.push_str("\nimport { check, group } from 'k6';\n");
    if sends_files {
        out.push_str("import http from 'k6/http';\n");
    }
    if !schemes.is_empty() {
        out.push_str("import secrets from 'k6/secrets';\n");
    }
    out.push_str("import { Client } from './client.ts';\n\n");
    if !data.is_empty() {
        out.push_str("const data = JSON.parse(open('./data.json'));\n\n");
    }
    out.push_str(
        "export const options = {
  vus: 1,
  iterations: 1,
  // A load of 20 users, once the script does what you want:
  // scenarios: { load: { executor: 'ramping-vus', stages: [{ duration: '1m', target: 20 }, { duration: '5m', target: 20 }] } },
  thresholds: { checks: ['rate>0.99'] },
};

",
    );
    let is_async = if schemes.is_empty() { "" } else { "async " };
    let _ = writeln!(out, "export default {is_async}function () {{");
    let base = format!("__ENV.BASE_URL || {}", literal(base_url));
    if schemes.is_empty() {
        let _ = writeln!(out, "  const client = new Client({base});");
    } else {
        let _ = writeln!(out, "  const client = new Client({base}, {{}}, {{");
        for scheme in schemes {
            let _ =
                writeln!(out, "    {}: await secrets.get({}),", scheme.name, literal(&scheme.name));
        }
        out.push_str("  });\n");
    }
    // Operations that take away come last in their group, so that the others find what they need.
    let first = |group: &str| operations.iter().position(|own| own.group == group);
    let mut order: Vec<&Operation> = operations.iter().collect();
    order.sort_by_key(|own| (first(&own.group), own.method == "DELETE"));
    let mut at = 0;
    while let Some(first) = order.get(at) {
        let count = order[at..].iter().take_while(|own| own.group == first.group).count();
        let _ = write!(out, "\n  group({}, () => {{\n", literal(&first.group));
        for (index, operation) in order[at..at + count].iter().enumerate() {
            if index > 0 {
                out.push('\n');
            }
            out.push_str(&call(document, operation, data));
        }
        out.push_str("  });\n");
        at += count;
    }
    out.push_str("}\n");
    out
}

/// The members of a form that are files, with their media types; whether they are lists.
fn files<'a>(document: &'a Document, body: &Body<'a>) -> Vec<(&'a String, bool)> {
    if body.kind != Kind::Multipart {
        return Vec::new();
    }
    let schema = body.schema.map(|own| document.resolve(own));
    let properties = schema.and_then(|own| own.get("properties")).and_then(Json::as_object);
    let is_file = |own: &Json| {
        let own = document.resolve(own);
        let is_list = own.get("items").is_some();
        let item = own.get("items").map_or(own, |items| document.resolve(items));
        is_binary(item).then_some(is_list)
    };
    properties.into_iter().flatten().filter_map(|(name, own)| Some((name, is_file(own)?))).collect()
}

fn call(document: &Document, operation: &Operation, data: &Map<String, Json>) -> String {
    let name = &operation.name;
    let own = format!("data.{name}");
    let arguments = match &operation.body {
        Some(body) if !files(document, body).is_empty() => {
            let inner = format!("{own}{}", access(&body.argument));
            let mut members = format!("        ...{inner},\n");
            for (name, is_list) in files(document, body) {
                let file = "http.file('some text', 'file.txt', 'text/plain')";
                let file = if is_list { format!("[{file}]") } else { file.to_owned() };
                let _ = writeln!(members, "        {}: {file},", member(name));
            }
            let name = member(&body.argument);
            format!("{{\n      ...{own},\n      {name}: {{\n{members}      }},\n    }}")
        }
        _ if data.contains_key(name) => own,
        _ => String::new(),
    };
    let condition = condition(&operation.statuses);
    let label = if operation.statuses.is_empty() {
        "no error".to_owned()
    } else {
        operation.statuses.join(" or ")
    };
    format!(
        "    const {name} = client.{name}({arguments});\n    check({name}, {{ {}: (r) => {condition} }});\n",
        literal(&format!("{name}: {label}"))
    )
}

/// Whether a status is one of the documented ones.
fn condition(statuses: &[String]) -> String {
    if statuses.is_empty() {
        return "r.status > 0 && r.status < 400".to_owned();
    }
    let all = statuses.iter().map(|status| {
        if status.contains('X') {
            let (low, high) = (status.replace('X', "0"), status.replace('X', "9"));
            format!("(r.status >= {low} && r.status <= {high})")
        } else {
            format!("r.status === {status}")
        }
    });
    all.collect::<Vec<_>>().join(" || ")
}
