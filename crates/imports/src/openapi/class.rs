//! `client.ts`: a class with a method for each operation.

use super::document::Document;
use super::operation::{Body, Kind, Operation, Parameter, Place, Proof, Scheme};
use super::text::{access, doc, line, literal, member, template};
use super::types::{Types, Use};
use crate::error::Error;
use std::fmt::Write as _;

/// Functions that the methods use; those that no method uses are left out.
const RUNTIME: &str = include_str!("runtime.ts");

/// The largest client.
const SIZE_MAX: usize = 64 << 20;

/// Writes the client.
pub(super) fn write(
    document: &Document,
    types: &Types,
    operations: &[Operation],
    schemes: &[Scheme],
) -> Result<String, Error> {
    let declarations = types.declarations();
    let mut methods = String::new();
    for operation in operations {
        methods.push_str(&method(operation, types));
        if methods.len() + declarations.len() > SIZE_MAX {
            return Err(Document::fault(
                "/paths",
                "its client would be larger than 64 MiB; split the document",
            ));
        }
    }
    let mut class = String::from("export class Client {\n");
    class.push_str("  private readonly baseUrl: string;\n  private readonly params: Params;\n");
    if !schemes.is_empty() {
        class.push_str("  private readonly credentials: Credentials;\n");
    }
    class.push_str("\n  /**\n   * @param baseUrl without the paths of the document\n");
    class.push_str("   * @param params for all requests; those of a call are added\n");
    let (more, last) = if schemes.is_empty() {
        ("", "")
    } else {
        class.push_str("   * @param credentials for the operations that want them\n");
        (", credentials: Credentials = {}", "    this.credentials = credentials;\n")
    };
    let _ = write!(
        class,
        "   */\n  constructor(baseUrl: string, params: Params = {{}}{more}) {{\n    this.baseUrl = baseUrl.replace(/\\/+$/, '');\n    this.params = params;\n{last}  }}\n\n"
    );
    class.push_str(&methods);
    class.push_str(&send(!schemes.is_empty()));
    if !schemes.is_empty() {
        class.push_str(&authorize(schemes));
    }
    class.push_str("}\n");

    let runtime = used(&class);
    let mut out = format!(
        "// A client of {}, made from its OpenAPI document by brunt convert.\n\n",
        line(&document.title())
    );
    let body = format!("{declarations}{runtime}{class}");
    if schemes.iter().any(|scheme| scheme.proof == Proof::Basic) {
        out.push_str("import encoding from 'k6/encoding';\n");
    }
    out.push_str("import http from 'k6/http';\n");
    let file = if body.contains("FileData") { "FileData, " } else { "" };
    let _ =
        write!(out, "import type {{ {file}Params, RequestBody, Response }} from 'k6/http';\n\n");
    out.push_str(&declarations);
    if !schemes.is_empty() {
        out.push_str(&credentials(schemes));
    }
    out.push_str(&runtime);
    out.push_str(&class);
    Ok(out)
}

/// The parts of the runtime that a class uses, and those that these use.
fn used(class: &str) -> String {
    let parts: Vec<&str> = RUNTIME.split("\n\n").collect();
    let name = |part: &str| {
        let at = part.find("\nfunction ")?;
        part[at + 10..].split('(').next().map(str::to_owned)
    };
    let mut taken = vec![false; parts.len()];
    let mut text = class.to_owned();
    loop {
        let before = taken.clone();
        for (index, part) in parts.iter().enumerate() {
            let is_used = name(part).is_none_or(|name| text.contains(&format!("{name}(")));
            if is_used && !taken[index] {
                taken[index] = true;
                text.push_str(part);
            }
        }
        if taken == before {
            break;
        }
    }
    let parts = parts.iter().zip(taken).filter(|(_, taken)| *taken);
    parts.flat_map(|(part, _)| [part.trim_end(), "\n\n"]).collect()
}

fn credentials(schemes: &[Scheme]) -> String {
    let mut out =
        String::from("/** Secrets of the security schemes. */\nexport interface Credentials {\n");
    for scheme in schemes {
        let what = match &scheme.proof {
            Proof::Bearer => "A token.".to_owned(),
            Proof::Basic => "user:password".to_owned(),
            Proof::Header(name) => format!("Sent in the header {name}."),
            Proof::Query(name) => format!("Sent in the query as {name}."),
            Proof::Cookie(name) => format!("Sent in the cookie {name}."),
        };
        let _ = write!(out, "  /** {} */\n  {}?: string;\n", line(&what), scheme.name);
    }
    out.push_str("}\n\n");
    out
}

/// The object type of a method's arguments, and whether it may be left out.
fn arguments(operation: &Operation, types: &Types) -> Option<(String, bool)> {
    if operation.parameters.is_empty() && operation.body.is_none() {
        return None;
    }
    let mut out = String::from("{\n");
    let mut is_optional = true;
    let mut add = |name: &str, is_required: bool, kind: &str, about: Option<&str>| {
        let about: Vec<String> = about.map(str::to_owned).into_iter().collect();
        out.push_str(&doc(&about, "      "));
        let mark = if is_required { "" } else { "?" };
        let _ = writeln!(out, "      {}{mark}: {kind};", member(name));
        is_optional &= !is_required;
    };
    for parameter in &operation.parameters {
        let kind = parameter
            .schema
            .map_or_else(|| "unknown".to_owned(), |own| types.of(own, 3, 0, Use::Json));
        let about = parameter.source.get("description").and_then(serde_json::Value::as_str);
        add(&parameter.argument, parameter.is_required, &kind, about);
    }
    if let Some(body) = &operation.body {
        let kind = body_type(body, types);
        add(&body.argument, body.is_required, &kind, None);
    }
    out.push_str("    }");
    Some((out, is_optional))
}

fn body_type(body: &Body, types: &Types) -> String {
    match body.kind {
        Kind::Raw => "string | ArrayBuffer".to_owned(),
        kind => {
            let place = if kind == Kind::Multipart { Use::Multipart } else { Use::Json };
            let own =
                body.schema.map_or_else(|| "unknown".to_owned(), |own| types.of(own, 3, 0, place));
            if kind != Kind::Json && own == "unknown" { "object".to_owned() } else { own }
        }
    }
}

fn method(operation: &Operation, types: &Types) -> String {
    let text = |key: &str| operation.source.get(key).and_then(serde_json::Value::as_str);
    let mut about: Vec<String> = text("summary").map(str::to_owned).into_iter().collect();
    if let Some(description) = text("description").filter(|own| Some(*own) != text("summary")) {
        if !about.is_empty() {
            about.push(" ".to_owned());
        }
        about.push(description.to_owned());
    }
    if about.is_empty() {
        about.push(format!("{} {}", operation.method, operation.route));
    }
    if operation.source.get("deprecated") == Some(&serde_json::Value::Bool(true)) {
        about.push("@deprecated".to_owned());
    }
    let answer =
        operation.answer.map_or_else(|| "unknown".to_owned(), |own| types.of(own, 1, 0, Use::Json));
    let mut out = doc(&about, "  ");
    let _ = write!(out, "  {}(", operation.name);
    if let Some((kind, is_optional)) = arguments(operation, types) {
        let default = if is_optional { " = {}" } else { "" };
        let _ = write!(out, "\n    args: {kind}{default},\n    params: Params = {{}},\n  ");
    } else {
        out.push_str("params: Params = {}");
    }
    let _ = writeln!(out, "): Reply<{answer}> {{");
    let (before, call) = call(operation);
    out.push_str(&before);
    let (path, route) = (path(operation), literal(&operation.route));
    let _ = write!(
        out,
        "    return this.send({}, {path}, {route}, {call}, params) as unknown as Reply<{answer}>;\n  }}\n\n",
        literal(&operation.method)
    );
    out
}

/// The path with the arguments in it.
fn path(operation: &Operation) -> String {
    if !operation.route.contains('{') {
        return literal(&operation.route);
    }
    let mut out = String::from("`");
    let mut parts = operation.route.split('{');
    out.push_str(&template(parts.next().unwrap_or_default()));
    for part in parts {
        let Some((name, rest)) = part.split_once('}') else {
            out.push_str(&template(&format!("{{{part}")));
            continue;
        };
        let is_it = |own: &&Parameter| own.place == Place::Path && own.name == name;
        if let Some(parameter) = operation.parameters.iter().find(is_it) {
            let prefix = match parameter.style.as_str() {
                "label" => ".".to_owned(),
                "matrix" => format!(";{}=", template(name)),
                _ => String::new(),
            };
            let value = access(&parameter.argument);
            let value = if parameter.is_json {
                format!("JSON.stringify(args{value})")
            } else {
                format!("simple(args{value})")
            };
            let _ = write!(out, "{prefix}${{encodeURIComponent({value})}}");
        }
        out.push_str(&template(rest));
    }
    out.push('`');
    out
}

/// Statements before the call, and what it sends beside its path.
fn call(operation: &Operation) -> (String, String) {
    let mut before = String::new();
    let mut members: Vec<String> = Vec::new();
    let of = |place: Place| operation.parameters.iter().filter(move |own| own.place == place);
    let query: Vec<String> = of(Place::Query)
        .map(|own| {
            let (name, value) = (literal(&own.name), format!("args{}", access(&own.argument)));
            match own.style.as_str() {
                _ if own.is_json => {
                    format!(
                        "form({name}, {value} === undefined ? undefined : JSON.stringify({value}))"
                    )
                }
                "deepObject" => format!("deep({name}, {value})"),
                "spaceDelimited" if !own.explodes => format!("joined({name}, {value}, ' ')"),
                "pipeDelimited" if !own.explodes => format!("joined({name}, {value}, '|')"),
                "form" if !own.explodes => format!("joined({name}, {value}, ',')"),
                _ => format!("form({name}, {value})"),
            }
        })
        .collect();
    if !query.is_empty() {
        let lines = query.iter().map(|own| format!("        {own},\n"));
        members.push(match query.as_slice() {
            [one] => format!("query: [{one}]"),
            _ => format!("query: [\n{}      ]", lines.collect::<String>()),
        });
    }
    for (place, key) in [(Place::Header, "headers"), (Place::Cookie, "cookies")] {
        let all: Vec<String> = of(place)
            .map(|own| format!("{}: args{}", member(&own.name), access(&own.argument)))
            .collect();
        if !all.is_empty() {
            members.push(format!("{key}: {{ {} }}", all.join(", ")));
        }
    }
    if let Some(body) = &operation.body {
        let value = format!("args{}", access(&body.argument));
        let media = literal(&body.media);
        match body.kind {
            Kind::Json if body.is_required => {
                members.push(format!("contentType: {media},\n      body: JSON.stringify({value})"));
            }
            Kind::Json => members.push(format!(
                "contentType: {media},\n      body: {value} === undefined ? undefined : JSON.stringify({value})"
            )),
            Kind::Form => members.push(format!("contentType: {media},\n      body: form('', {value}).join('&')")),
            Kind::Multipart => {
                let value = if body.is_required { value } else { format!("{value} ?? {{}}") };
                before = format!("    const sent = multipart({value});\n");
                members.push("...sent".to_owned());
            }
            Kind::Raw => members.push(format!("contentType: {media},\n      body: {value}")),
        }
    }
    if !operation.security.is_empty() {
        let keys: Vec<String> = operation.security.iter().map(|key| literal(key)).collect();
        members.push(format!("security: [{}]", keys.join(", ")));
    }
    if members.is_empty() {
        return (before, "{}".to_owned());
    }
    let inner = members.iter().map(|own| format!("      {own},\n"));
    (before, format!("{{\n{}    }}", inner.collect::<String>()))
}

/// The method that all others use.
fn send(has_credentials: bool) -> String {
    let authorize = if has_credentials {
        "    for (const scheme of call.security ?? []) this.authorize(scheme, { headers, query, cookies });\n"
    } else {
        ""
    };
    format!(
        r"  private send(method: string, path: string, route: string, call: Call, params: Params): Response {{
    const headers: {{ [name: string]: string }} = {{}};
    const cookies: {{ [name: string]: string }} = {{}};
    const query = (call.query ?? []).flat();
    if (call.contentType !== undefined) headers['Content-Type'] = call.contentType;
    for (const [name, value] of Object.entries(call.headers ?? {{}})) {{
      if (value !== undefined) headers[name] = simple(value);
    }}
    for (const [name, value] of Object.entries(call.cookies ?? {{}})) {{
      if (value !== undefined) cookies[name] = simple(value);
    }}
{authorize}    const url = query.length > 0 ? `${{this.baseUrl}}${{path}}?${{query.join('&')}}` : `${{this.baseUrl}}${{path}}`;
    return http.request(method, url, call.body ?? null, {{
      ...this.params,
      ...params,
      headers: {{ ...headers, ...this.params.headers, ...params.headers }},
      cookies: {{ ...cookies, ...this.params.cookies, ...params.cookies }},
      // One name for all addresses of an operation, so that their metrics are together.
      tags: {{ name: `${{method}} ${{route}}`, ...this.params.tags, ...params.tags }},
    }});
  }}
"
    )
}

fn authorize(schemes: &[Scheme]) -> String {
    let mut out = String::from(
        "\n  private authorize(\n    scheme: string,\n    to: {\n      headers: { [name: string]: string };\n      query: string[];\n      cookies: { [name: string]: string };\n    },\n  ): void {\n    switch (scheme) {\n",
    );
    for scheme in schemes {
        let secret = format!("this.credentials.{}", scheme.name);
        let effect = match &scheme.proof {
            Proof::Bearer => format!("to.headers.Authorization = `Bearer ${{{secret}}}`"),
            Proof::Basic => {
                format!("to.headers.Authorization = `Basic ${{encoding.b64encode({secret})}}`")
            }
            Proof::Header(name) => format!("to.headers[{}] = {secret}", literal(name)),
            Proof::Query(name) => {
                format!(
                    "to.query.push(`${{encodeURIComponent({})}}=${{encodeURIComponent({secret})}}`)",
                    literal(name)
                )
            }
            Proof::Cookie(name) => format!("to.cookies[{}] = {secret}", literal(name)),
        };
        let _ = write!(
            out,
            "      case {}:\n        if ({secret} !== undefined) {{\n          {effect};\n        }}\n        break;\n",
            literal(&scheme.key)
        );
    }
    out.push_str("    }\n  }\n");
    out
}
