//! `data()`: the `data-…` attributes as values.

use brunt_html::{Attribute, Document, NodeId};
use brunt_quickjs::{Call, Ctx, JsResult};

/// The result of `data(key?)` of a selection whose first element is `node`.
pub(super) fn data<'js>(
    call: &Call<'js>,
    document: &Document,
    node: Option<NodeId>,
) -> JsResult<'js> {
    let ctx = call.ctx();
    let attributes = node.map(|node| document.attributes(node));
    let has_attributes = attributes.as_ref().is_some_and(|attributes| attributes.len() > 0);
    let given = attributes.into_iter().flatten().filter_map(|attribute| {
        let name = attribute.name().strip_prefix("data-").filter(|name| !name.is_empty())?;
        Some((name.to_owned(), attribute))
    });
    let key = call.argument(0);
    if call.is_empty() {
        if !has_attributes {
            return Ok(ctx.undefined());
        }
        let object = ctx.object()?;
        for (name, attribute) in given {
            object.define(camel(&name).as_str(), value(ctx, attribute)?)?;
        }
        return Ok(object);
    }
    let key = key.to_string_lossy()?;
    let wanted = dashed(&key);
    for (name, attribute) in given {
        if name == wanted {
            return value(ctx, attribute);
        }
    }
    Ok(ctx.undefined())
}

/// Words that k6 1.8 writes in capitals within a name, as Go's programmers do: `test-id` is `testID`.
const INITIALISMS: [&str; 40] = [
    "ACL", "API", "ASCII", "CPU", "CSS", "DNS", "EOF", "GPU", "GUID", "HTML", "HTTP", "HTTPS",
    "ID", "IP", "JSON", "LHS", "OAuth", "OS", "QPS", "RAM", "RHS", "RPC", "SLA", "SMTP", "SQL",
    "SSH", "TCP", "TLS", "TTL", "UDP", "UI", "UID", "URI", "URL", "UTF8", "UUID", "VM", "XML",
    "XSRF", "XSS",
];

/// `e-f` is `eF`, `e-url` is `eURL`. Up to the first dash a name stays as it is; behind it `_` parts words, too.
fn camel(name: &str) -> String {
    let (first, rest) = name.split_once('-').unwrap_or((name, ""));
    let mut camel = first.to_owned();
    for word in rest.split(['-', '_']) {
        if let Some(known) = INITIALISMS.iter().find(|known| known.eq_ignore_ascii_case(word)) {
            camel.push_str(known);
            continue;
        }
        let mut letters = word.chars();
        camel.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        camel.push_str(letters.as_str());
    }
    camel
}

/// The attribute that a key asks for: `eF` is `e-f`, `eURL` is `e-url`. A word begins at a capital letter and behind each of
/// the [`INITIALISMS`], of which the longest counts.
fn dashed(key: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut rest = key;
    while !rest.is_empty() {
        let known = INITIALISMS.iter().filter(|known| rest.starts_with(**known));
        let end = known.map(|known| known.len()).max().unwrap_or_else(|| {
            let mut later = rest.char_indices().skip(1);
            later.find(|(_, letter)| letter.is_uppercase()).map_or(rest.len(), |(at, _)| at)
        });
        let (word, behind) = rest.split_at(end);
        words.push(word);
        rest = behind;
    }
    words.join("-").to_lowercase().replace('_', "-")
}

/// Booleans, numbers as they would be written, JSON; any other text is itself.
fn value<'js>(ctx: Ctx<'js>, attribute: Attribute<'_>) -> JsResult<'js> {
    let text = attribute.value();
    match text {
        "" | "null" | "undefined" => return Ok(ctx.undefined()),
        "true" => return Ok(ctx.bool(true)),
        "false" => return Ok(ctx.bool(false)),
        _ => {}
    }
    if let Ok(number) = text.parse::<f64>()
        && !number.is_infinite()
        && number.to_string() == text
    {
        return Ok(ctx.number(number));
    }
    if text.starts_with(['{', '['])
        && let Ok(parsed) = ctx.parse_json(text.as_bytes())
    {
        return Ok(parsed);
    }
    ctx.string(text)
}

#[cfg(test)]
mod tests {
    use super::{camel, dashed};

    #[test]
    fn names_have_the_initialisms_of_go_as_in_k6_1_8() {
        for (name, expected) in [
            ("test-id", "testID"),
            ("api-url", "apiURL"),
            ("x-oauth", "xOAuth"),
            ("a-utf8", "aUTF8"),
            ("url", "url"),
            ("x-ids", "xIds"),
            ("-id", "ID"),
            ("id--id", "idID"),
            ("a-id-b", "aIDB"),
            ("user_id-api", "user_idAPI"),
            ("a-b_id", "aBID"),
            ("a-_b", "aB"),
            ("_a", "_a"),
            ("a.b-c", "a.bC"),
            ("-", ""),
            ("a--", "a"),
            ("x-1", "x1"),
        ] {
            assert_eq!(camel(name), expected, "{name}");
        }
    }

    #[test]
    fn keys_find_attributes_as_in_k6_1_8() {
        for (key, expected) in [
            ("testID", "test-id"),
            ("testId", "test-id"),
            ("test-id", "test-id"),
            ("apiURL", "api-url"),
            ("AB", "a-b"),
            ("a_b", "a-b"),
            ("a__b", "a--b"),
            ("A_B", "a--b"),
            ("testIDs", "test-id-s"),
            ("TESTID", "t-e-s-t-id"),
            ("userID1", "user-id-1"),
            ("userId1", "user-id1"),
            ("OAuthToken", "oauth-token"),
            ("oAuthToken", "o-auth-token"),
            ("UID", "uid"),
            ("uID", "u-id"),
            ("HTTPSURL", "https-url"),
            ("fooBAR", "foo-b-a-r"),
            ("IPv4", "ip-v4"),
            ("_a", "-a"),
            ("foo_", "foo-"),
            ("ABCd", "a-b-cd"),
            ("IDX", "id-x"),
            ("UTF8", "utf8"),
            ("XMLHTTPRequest", "xml-http-request"),
            ("HTTPServer", "https-erver"),
            ("", ""),
        ] {
            assert_eq!(dashed(key), expected, "{key}");
        }
    }
}
