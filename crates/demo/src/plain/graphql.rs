//! `/graphql`: a tiny schema, answered as GraphQL over HTTP is.
//!
//! ```graphql
//! type Query    { hello(name: String): String, item(id: Int!): Item, items(first: Int): [Item] }
//! type Mutation { rename(id: Int!, name: String!): Item }
//! type Item     { id: Int, name: String, price: Float, tags: [String] }
//! ```
//!
//! Fields, aliases, arguments and variables; no fragments, no directives. A mutation answers what it
//! would do and changes nothing.

mod document;

use hyper::Method;
use hyper::header::CONTENT_TYPE;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::document::{Document, Field};
use super::documents::{items, record};
use crate::call::Call;
use crate::reply::{self, Refusal, Reply};

/// Largest request.
const REQUEST_MAX: usize = 64 * 1024;
/// The maximum number of items that one query may list.
const FIRST_MAX: u64 = 1000;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Request {
    query: String,
    variables: Option<Map<String, Value>>,
}

/// Answers a query by POST (JSON, or `application/graphql`) or by GET (`?query=&variables=`).
pub(super) async fn answer(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let request = match call.parts.method {
        Method::POST => {
            let body = call.whole_body(REQUEST_MAX).await?;
            if call.header(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/graphql"))
            {
                let query = String::from_utf8_lossy(&body.bytes).into_owned();
                Request { query, variables: None }
            } else {
                serde_json::from_slice(&body.bytes)
                    .map_err(|e| reply::bad_request(e.to_string()))?
            }
        }
        Method::GET => {
            let query = call.query().get("query").unwrap_or_default().into_owned();
            let variables = call.query().get("variables");
            let variables = variables.and_then(|text| serde_json::from_str(&text).ok());
            Request { query, variables }
        }
        _ => return Err(reply::wrong_method("GET, POST")),
    };
    if request.query.is_empty() {
        return Err(reply::bad_request("there is no 'query'"));
    }
    let result = call.compute(|| execute(&request));
    Ok(reply::json(&result))
}

/// `{"data"}` or `{"errors"}`.
fn execute(request: &Request) -> Value {
    let document = match document::parse(&request.query) {
        Ok(document) => document,
        Err(error) => {
            let at = json!([{ "line": error.line, "column": error.column }]);
            return json!({ "errors": [{ "message": error.message, "locations": at }] });
        }
    };
    let none = Map::new();
    let mut variables = document.defaults.clone();
    variables.extend(request.variables.as_ref().unwrap_or(&none).clone());
    let mut data = Map::new();
    for field in &document.fields {
        match root(&document, field, &variables) {
            Ok(value) => data.insert(field.alias.clone(), value),
            Err(message) => {
                let error = json!({ "message": message, "path": [field.alias] });
                return json!({ "data": null, "errors": [error] });
            }
        };
    }
    json!({ "data": data })
}

fn root(
    document: &Document,
    field: &Field,
    variables: &Map<String, Value>,
) -> Result<Value, String> {
    let argument = |name: &str| field.argument(name, variables);
    let number = |name: &str| argument(name).and_then(|value| value.as_u64());
    let id = || number("id").ok_or_else(|| format!("field '{}' needs id: Int!", field.name));
    match (document.mutation, field.name.as_str()) {
        (_, "__typename") => Ok(json!(if document.mutation { "Mutation" } else { "Query" })),
        (false, "hello") => {
            let name = argument("name");
            Ok(json!(format!(
                "Hello, {}!",
                name.as_ref().and_then(Value::as_str).unwrap_or("world")
            )))
        }
        (false, "item") => select(field, &json!(record(id()?))),
        (false, "items") => {
            let count = number("first").unwrap_or(10).min(FIRST_MAX);
            items(0, count).into_iter().map(|item| select(field, &json!(item))).collect()
        }
        (true, "rename") => {
            let name = argument("name").filter(Value::is_string);
            let name = name.ok_or("field 'rename' needs name: String!")?;
            let mut item = json!(record(id()?));
            item["name"] = name;
            select(field, &item)
        }
        (_, unknown) => Err(format!("there is no field '{unknown}' here")),
    }
}

/// The selected members of an item.
fn select(field: &Field, item: &Value) -> Result<Value, String> {
    if field.fields.is_empty() {
        return Err(format!("field '{}' needs a selection such as {{ id name }}", field.name));
    }
    let mut selected = Map::new();
    for wanted in &field.fields {
        let value = match wanted.name.as_str() {
            "__typename" => json!("Item"),
            name => item
                .get(name)
                .cloned()
                .ok_or_else(|| format!("there is no field '{name}' on type 'Item'"))?,
        };
        selected.insert(wanted.alias.clone(), value);
    }
    Ok(selected.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(query: &str, variables: &Value) -> Value {
        let variables = variables.as_object().cloned();
        execute(&Request { query: query.to_owned(), variables })
    }

    #[test]
    fn a_query_selects_and_renames() {
        let answer = run(
            "query Q($n: Int = 2, $who: String) { hi: hello(name: $who) items(first: $n) { id } }",
            &json!({ "who": "Ada" }),
        );
        let expected =
            json!({ "data": { "hi": "Hello, Ada!", "items": [{ "id": 1 }, { "id": 2 }] } });
        assert_eq!(answer, expected);
    }

    #[test]
    fn a_mutation_answers_what_it_would_do() {
        let answer =
            run("mutation { rename(id: 3, name: \"saw\") { id name __typename } }", &json!({}));
        let item = json!({ "id": 3, "name": "saw", "__typename": "Item" });
        assert_eq!(answer, json!({ "data": { "rename": item } }));
    }

    #[test]
    fn errors_stand_where_graphql_puts_them() {
        let answer = run("{ hello(", &json!({}));
        assert_eq!(answer["errors"][0]["locations"][0], json!({ "line": 1, "column": 9 }));
        let answer = run("{ price }", &json!({}));
        assert!(answer["errors"][0]["message"].as_str().unwrap().contains("'price'"));
        assert_eq!(answer["data"], Value::Null);
    }
}
