use super::*;

const SHOP: &[u8] = include_bytes!("../../tests/openapi/shop.yaml");
const ODD: &[u8] = include_bytes!("../../tests/openapi/odd.json");

fn made(document: &[u8]) -> Client {
    client(document, &Options::default()).expect("our own document")
}

fn file(client: &Client, name: &str) -> String {
    let found = client.files.iter().find(|(path, _)| path.to_str() == Some(name));
    String::from_utf8(found.expect(name).1.clone()).unwrap()
}

fn fault(text: &str) -> String {
    client(text.as_bytes(), &Options::default()).expect_err(text).to_string()
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

#[test]
fn schemas_are_types() {
    has(
        &file(&made(SHOP), "client.ts"),
        &[
            "export type Sort = 'name' | '-price';",
            "/** An item to be. */\nexport interface NewItem {\n  /** Shown to users. */\n  name: string;\n  price: number;\n  'odd-name'?: string | null;\n  class?: Class;\n  parts?: NewItem[];\n  extra?: { [key: string]: number };\n}",
            "export type Item = Base & NewItem & {\n  made?: string;\n};",
            "export type Class = string | number | ResponseSchema | null;",
            "export interface ResponseSchema {",
            "export type Loop = unknown;",
        ],
    );
    has(
        &file(&made(ODD), "client.ts"),
        &[
            "  left?: Tree;\n  value?: null | string;\n  name?: string;\n  [key: string]: unknown;",
            "export type Tree2 = {\n  a?: 1 | 'b' | null | true;\n} | null;",
            "export type 枝 = (Tree | Tree2)[];",
            "export type Not = never;",
        ],
    );
}

#[test]
fn operations_are_methods_with_typed_arguments() {
    let client = file(&made(SHOP), "client.ts");
    has(
        &client,
        &[
            "// A client of Shop *\\/ API 1.0,",
            "  /**\n   * Lists items.\n   *\n   * Newest first.\n",
            "      'X-Trace'?: string;",
            "      'sort-by': Sort;",
            "    params: Params = {},\n  ): Reply<Item[]> {",
            "query: [\n        form('limit', args.limit),\n        joined('tags', args.tags, ','),\n        deep('filter', args.filter),\n        form('sort-by', args['sort-by']),\n      ],",
            "Reply<Item> {",
            "headers: { 'X-Trace': args['X-Trace'] }",
            "body: NewItem;",
            "contentType: 'application/json',\n      body: JSON.stringify(args.body)",
            "deleteCall(",
            "`/items/${encodeURIComponent(simple(args['item-id']))}`",
            "security: ['apiKey', 'basicAuth']",
            "bodyOfRequest?: {",
            "file: FileData;\n        more?: FileData[];",
            "...sent",
            "case 'apiKey':",
            "to.query.push(`${encodeURIComponent('api key')}=${encodeURIComponent(this.credentials.apiKey)}`)",
            "@deprecated",
        ],
    );
    has(
        &file(&made(ODD), "client.ts"),
        &[
            "getGrößeByX(",
            "`/größe/\\`$${encodeURIComponent(simple(args.x))}\\``",
            "constructorCall(",
            "constructorCall2(",
            "b: 'it\\'s';",
            "bInQuery: { [key: string]: unknown };",
            "c: [string, number, ...unknown[]];",
            "Reply<Tree>",
        ],
    );
}

#[test]
fn the_script_calls_each_operation_and_takes_away_last() {
    let made = made(SHOP);
    let script = file(&made, "script.ts");
    has(
        &script,
        &[
            "new Client(__ENV.BASE_URL || 'http://127.0.0.1:8080/anything', {}, {",
            "bearerAuth: await secrets.get('bearerAuth'),",
            "check(createItem, { 'createItem: 200 or 201': (r) => r.status === 200 || r.status === 201 });",
            "(r) => (r.status >= 200 && r.status <= 299)",
            "client.uploadPicture({\n      ...data.uploadPicture,\n      body: {\n        ...data.uploadPicture.body,\n        file: http.file(",
        ],
    );
    assert!(script.find("client.deleteCall(") > script.find("client.createItem("));
    let secrets = file(&made, "secrets.env");
    assert_eq!(
        secrets,
        "bearerAuth=write-it-here\nbasicAuth=user:password\napiKey=write-it-here\n"
    );
    assert!(
        made.notes.iter().any(|note| note.contains("\"signed\" (mutualTLS)")),
        "{:?}",
        made.notes
    );
    assert!(!file(&super::tests::made(ODD), "script.ts").contains("secrets"));
}

#[test]
fn data_is_of_examples_or_fits_the_schemas() {
    let data: Json = serde_json::from_str(&file(&made(SHOP), "data.json")).unwrap();
    assert_eq!(data["listItems"]["limit"], 10);
    assert_eq!(data["listItems"]["sort-by"], "name");
    assert_eq!(data["createItem"]["body"]["name"], "namexxxx");
    assert_eq!(data["createItem"]["body"]["price"], 0.5);
    assert_eq!(data["deleteCall"]["item-id"], "00000000-0000-4000-8000-000000000001");
    let data: Json = serde_json::from_str(&file(&made(ODD), "data.json")).unwrap();
    assert_eq!(data["constructorCall2"]["body"]["$ref"], "not a reference");
    assert_eq!(data["constructorCall"]["b"], "it's");
}

#[test]
fn faults_name_the_place_and_a_remedy() {
    for (text, part) in [
        ("swagger: '2.0'\n", "/swagger: this is Swagger 2.0"),
        ("{\"openapi\": \"3.0.0\"", "line 1 column"),
        ("a: [", "neither JSON nor YAML"),
        ("hello", "it has no \"openapi\""),
        ("openapi: 4.0.0", "\"4.0.0\" is not read"),
        ("openapi: 3.0.0\npaths: {}", "no operations"),
        (
            "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{$ref: 'other.yaml#/a'}]}}}",
            "/paths/~1a/get/parameters/0: \"other.yaml#/a\" is in another file; bundle",
        ),
        (
            "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{$ref: '#/x'}]}}}",
            "\"#/x\" leads to nothing",
        ),
        ("openapi: 3.0.0\npaths: {a: {get: {}}}", "begins with a slash"),
    ] {
        let error = fault(text);
        assert!(error.contains(part), "{text}: {error}");
    }
    let error = client(&[0xFF, 0xFE], &Options::default()).unwrap_err().to_string();
    assert!(error.contains("not UTF-8"), "{error}");
}

#[test]
fn parts_in_parts_end() {
    let text = r##"{"openapi": "3.1.0", "paths": {"/a": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/x/a"}}}}}}}},
        "x": {"a": {"type": "object", "properties": {"b": {"$ref": "#/x/a"}, "c": {"$ref": "#/x/a"}, "d": {"$ref": "#/x/e"}}}, "e": {"$ref": "#/x/f"}, "f": {"$ref": "#/x/e"}}}"##;
    made(text.as_bytes());
    let chain = (0..30_000).map(|index| {
        format!("\"S{index}\": {{\"$ref\": \"#/components/schemas/S{}\"}},", (index + 1) % 30_000)
    });
    let chain = chain.collect::<String>();
    let text = format!(
        "{{\"openapi\": \"3.0.0\", \"paths\": {{\"/\": {{\"get\": {{}}}}}}, \"components\": {{\"schemas\": {{{chain} \"T\": {{}}}}}}}}"
    );
    made(text.as_bytes());
}

#[test]
fn no_text_ends_its_comment() {
    let text = r#"{"openapi": "3.0.0", "info": {"title": "*\u0000/ *\u0000\u0001/", "version": "1"}, "paths": {"/": {"get": {"summary": "*/"}}}}"#;
    let client = made(text.as_bytes());
    let text = file(&client, "client.ts");
    assert_eq!(text.matches("/**").count(), text.matches("*/").count(), "{text}");
}

mod laws {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn texts_of_a_document_stay_texts(title in ".{0,30}", name in "[^*]{1,12}", path in "[^{}*]{0,12}") {
            let document = serde_json::json!({
                "openapi": "3.0.0", "info": {"title": title, "version": "1"},
                "paths": {format!("/{path}"): {"get": {"summary": title, "operationId": name,
                    "parameters": [{"name": name, "in": "query", "description": title}]}}},
                "components": {"schemas": {name.clone(): {"description": name}}},
            });
            let client = made(document.to_string().as_bytes());
            // No text ends its comment, so all comments are as many as there are ends.
            let text = file(&client, "client.ts");
            prop_assert_eq!(text.matches("/**").count(), text.matches("*/").count());
        }
    }
}
