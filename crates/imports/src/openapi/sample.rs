//! Data for the example: what the document gives, or what fits the schemas.

use serde_json::{Map, Value as Json, json};

use super::document::Document;
use super::operation::{Kind, Operation};

/// How deep objects may be in objects; optional members end earlier.
const DEPTH_MAX: usize = 20;

/// The most values of an operation's data.
const VALUES_MAX: u32 = 5_000;

/// The data of all operations, by their names. Files are left out: the script has them.
pub(super) fn data(document: &Document, operations: &[Operation]) -> Map<String, Json> {
    let mut all = Map::new();
    for operation in operations {
        let mut sampler = Sampler { document, left: VALUES_MAX };
        let mut own = Map::new();
        for parameter in &operation.parameters {
            let example = example(document, parameter.source);
            let hint = parameter.schema.and_then(|schema| sampler.given(schema, 0));
            let value = match example.or(hint) {
                Some(value) => value,
                None if parameter.is_required => parameter
                    .schema
                    .map_or_else(|| json!("1"), |schema| sampler.of(schema, 0, &parameter.name)),
                None => continue,
            };
            own.insert(parameter.argument.clone(), value);
        }
        if let Some(body) = &operation.body {
            let value = example(document, body.source).unwrap_or_else(|| {
                body.schema.map_or_else(|| json!({}), |schema| sampler.of(schema, 0, ""))
            });
            let value = match (body.kind, value) {
                (Kind::Raw, value) if !value.is_string() => json!(value.to_string()),
                (_, value) => value,
            };
            own.insert(body.argument.clone(), value);
        }
        if !own.is_empty() {
            all.insert(operation.name.clone(), Json::Object(own));
        }
    }
    all
}

/// `example`, or the first of `examples`.
fn example(document: &Document, source: &Json) -> Option<Json> {
    if let Some(example) = source.get("example") {
        return Some(example.clone());
    }
    let first = match source.get("examples")? {
        Json::Object(all) => document.resolve(all.values().next()?).get("value")?,
        _ => return None,
    };
    Some(first.clone())
}

/// Makes values.
struct Sampler<'a> {
    document: &'a Document,
    left: u32,
}

impl Sampler<'_> {
    /// The value that the schema itself gives.
    fn given(&self, schema: &Json, depth: usize) -> Option<Json> {
        let schema = self.document.resolve(schema);
        let first =
            |key: &str| schema.get(key).and_then(Json::as_array).and_then(|list| list.first());
        let own =
            schema.get("example").or_else(|| first("examples")).or_else(|| schema.get("default"));
        let own = own.or_else(|| schema.get("const")).filter(|own| depth == 0 || !own.is_null());
        own.cloned()
    }

    /// A value that fits; `name` is the member's.
    fn of(&mut self, schema: &Json, depth: usize, name: &str) -> Json {
        if self.left == 0 || depth > DEPTH_MAX {
            return Json::Null;
        }
        self.left -= 1;
        let schema = self.document.resolve(schema);
        if let Some(given) = self.given(schema, depth) {
            return given;
        }
        if let Some(first) =
            schema.get("enum").and_then(Json::as_array).and_then(|list| list.first())
        {
            return first.clone();
        }
        if let Some(list) = schema.get("allOf").and_then(Json::as_array) {
            let mut merged = Map::new();
            let mut other = None;
            for own in list {
                match self.of(own, depth + 1, name) {
                    Json::Object(own) => merged.extend(own),
                    Json::Null => {}
                    own => other = Some(own),
                }
            }
            if schema.get("properties").is_some()
                && let Json::Object(own) = self.object(schema, depth)
            {
                merged.extend(own);
            }
            return other.filter(|_| merged.is_empty()).unwrap_or(Json::Object(merged));
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(list) = schema.get(key).and_then(Json::as_array) {
                let is_null = |own: &&Json| own.get("type").and_then(Json::as_str) != Some("null");
                if let Some(own) = list.iter().find(is_null) {
                    let mut value = self.of(own, depth + 1, name);
                    if let (Json::Object(value), Json::Object(more)) =
                        (&mut value, self.object(schema, depth))
                    {
                        value.extend(more);
                    }
                    return value;
                }
            }
        }
        let kind = match schema.get("type") {
            Some(Json::String(kind)) => kind.as_str(),
            Some(Json::Array(list)) => {
                list.iter().filter_map(Json::as_str).find(|kind| *kind != "null").unwrap_or("null")
            }
            _ if schema.get("properties").is_some() => "object",
            _ if schema.get("items").is_some() => "array",
            _ => "",
        };
        match kind {
            "string" => Json::String(string(schema, name)),
            "integer" => number(schema, true),
            "number" => number(schema, false),
            "boolean" => json!(true),
            "array" => self.array(schema, depth),
            "object" => self.object(schema, depth),
            "null" => Json::Null,
            _ => json!({}),
        }
    }

    fn array(&mut self, schema: &Json, depth: usize) -> Json {
        if let Some(list) = schema.get("prefixItems").and_then(Json::as_array) {
            return list.iter().take(100).map(|own| self.of(own, depth + 1, "")).collect();
        }
        let size = |key: &str| schema.get(key).and_then(Json::as_u64);
        let count = size("minItems").unwrap_or(u64::from(depth < 4)).max(u64::from(depth < 4));
        let count = count.min(size("maxItems").unwrap_or(u64::MAX)).min(100);
        let items = schema.get("items").unwrap_or(&Json::Bool(true));
        (0..count).map(|_| self.of(items, depth + 1, "")).filter(|own| !own.is_null()).collect()
    }

    /// All members at first, deeper only those that must be there or are given.
    fn object(&mut self, schema: &Json, depth: usize) -> Json {
        let mut out = Map::new();
        let required = schema.get("required").and_then(Json::as_array);
        let properties = schema.get("properties").and_then(Json::as_object);
        for (name, own) in properties.into_iter().flatten() {
            let is_required = required.into_iter().flatten().any(|own| own.as_str() == Some(name));
            let target = self.document.resolve(own);
            let is_read = target.get("readOnly") == Some(&Json::Bool(true));
            if is_read || !(is_required || depth < 2 || self.given(own, 1).is_some()) {
                continue;
            }
            let value = self.of(own, depth + 1, name);
            if is_required || !value.is_null() {
                out.insert(name.clone(), value);
            }
        }
        Json::Object(out)
    }
}

fn number(schema: &Json, is_whole: bool) -> Json {
    let of = |key: &str| schema.get(key).and_then(Json::as_f64);
    let mut value = of("minimum").unwrap_or(1.0_f64.min(of("maximum").unwrap_or(1.0)));
    match schema.get("exclusiveMinimum") {
        Some(Json::Bool(true)) => value += 1.0,
        Some(Json::Number(number)) => value = number.as_f64().unwrap_or_default() + 1.0,
        _ => {}
    }
    if let Some(step) = of("multipleOf").filter(|step| *step > 0.0) {
        value = (value / step).ceil() * step;
    }
    if is_whole || value.fract() == 0.0 {
        let whole = value.ceil().clamp(-9e15, 9e15) as i64;
        return json!(whole);
    }
    json!(value)
}

fn string(schema: &Json, name: &str) -> String {
    let format = schema.get("format").and_then(Json::as_str).unwrap_or_default();
    let text = match format {
        "date-time" => "2026-01-01T00:00:00Z",
        "date" => "2026-01-01",
        "time" => "12:00:00Z",
        "duration" => "PT1H",
        "uuid" => "00000000-0000-4000-8000-000000000001",
        "email" | "idn-email" => "user@example.com",
        "uri" | "url" | "iri" => "https://example.com/",
        "uri-reference" => "/",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "byte" => "dGV4dA==",
        "binary" => "text",
        "password" => "example-password",
        _ if name.is_empty() => "text",
        _ => name,
    };
    let size = |key: &str| {
        schema.get(key).and_then(Json::as_u64).and_then(|size| usize::try_from(size).ok())
    };
    let mut text = text.to_owned();
    if let Some(least) = size("minLength").filter(|least| *least <= 10_000) {
        while text.chars().count() < least {
            text.push('x');
        }
    }
    if let Some(most) = size("maxLength") {
        text = text.chars().take(most).collect();
    }
    text
}
