//! The internet, errors and files.

use super::row::{Argument, Kind, Rng, Row, argument, list, number, pick, text, with};
use super::{people, words};

pub(super) const SUFFIXES: &str = "app|biz|co|com|dev|eu|info|io|name|net|org|shop|site|tech";
const CODES: &str = "100|101|200|201|202|203|204|205|206|300|301|302|303|304|307|308|400|401|402|403|404|405|406|407|408|409|410|411|412|413|414|415|416|417|418|421|422|423|424|425|426|428|429|431|451|500|501|502|503|504|505|507|511";
const CLIENT_ERRORS: &str = "bad request|conflict|expectation failed|forbidden|gone|length required|method not allowed|not acceptable|not found|payload too large|payment required|\
    precondition failed|proxy authentication required|range not satisfiable|request timeout|too many requests|unauthorized|unprocessable content|unsupported media type|URI too long";
const SERVER_ERRORS: &str = "bad gateway|gateway timeout|HTTP version not supported|insufficient storage|internal server error|loop detected|network authentication required|not implemented|service unavailable";
const DATABASE_ERRORS: &str = "column does not exist|connection pool exhausted|connection to the database lost|constraint violated|database is locked|deadlock detected|disk is full|duplicate key|\
    foreign key is missing|no rows in result|query timed out|read-only transaction|serialization failure|syntax error in query|table does not exist|too many connections|transaction was aborted|value too long for column";
const GRPC_ERRORS: &str = "aborted: concurrent update|already exists|cancelled by the caller|data loss|deadline exceeded|failed precondition|internal error|invalid argument|method not found|not found|\
    out of range|permission denied|resource exhausted|unauthenticated|unavailable: connection refused|unimplemented|unknown service";
const RUNTIME_ERRORS: &str = "address out of range|assertion failed|channel closed|division by zero|file descriptor is closed|index out of bounds|invalid memory address|maximum call depth exceeded|\
    null reference|out of memory|overflow in addition|stack overflow|thread panicked|type conversion failed|unreachable code reached";
const INVALID: &str = "date is in the past|email is not valid|file is too large|invalid character|invalid format|length must be at least 8|missing required field|must be a number|must be positive|must be unique|\
    name is too long|password is too weak|phone number is not valid|postcode does not match|unknown country code|value is out of range|zip code must have five digits";
const OBJECTS: &str = "argument|buffer|bytes|connection|context|directory|file|handle|header|interface|key|message|object|path|pointer|record|request|response|schema|session|socket|stream|string|struct|table|token|type|value";

pub(super) fn image(width: impl std::fmt::Display, height: impl std::fmt::Display) -> String {
    format!("https://picsum.photos/{width}/{height}")
}

fn one_of(rng: &mut Rng, lists: &[&'static str]) -> String {
    let index = rng.usize(..lists.len());
    pick(rng, lists.get(index).copied().unwrap_or_default()).to_owned()
}

pub(super) const ERROR: &[Row] = &[
    list("databaseError", DATABASE_ERRORS),
    text("error", |rng| {
        one_of(
            rng,
            &[DATABASE_ERRORS, GRPC_ERRORS, CLIENT_ERRORS, SERVER_ERRORS, RUNTIME_ERRORS, INVALID],
        )
    }),
    list("errorObjectWord", OBJECTS),
    list("gRPCError", GRPC_ERRORS),
    list("httpClientError", CLIENT_ERRORS),
    text("httpError", |rng| one_of(rng, &[CLIENT_ERRORS, SERVER_ERRORS])),
    list("httpServerError", SERVER_ERRORS),
    list("runtimeError", RUNTIME_ERRORS),
    list("validationError", INVALID),
];

pub(super) const FILE: &[Row] = &[
    list(
        "fileExtension",
        "7z|avi|bin|bmp|c|conf|css|csv|dat|db|doc|docx|epub|exe|flac|gif|go|gz|html|ico|iso|jar|jpg|js|json|key|log|md|mkv|mov|mp3|mp4|odt|ogg|otf|pdf|php|png|ppt|py|rar|rs|rtf|sh|sql|svg|tar|tiff|toml|ts|ttf|txt|wasm|wav|webm|webp|xls|xlsx|xml|yaml|zip",
    ),
    list(
        "fileMimeType",
        "application/gzip|application/javascript|application/json|application/msword|application/octet-stream|application/pdf|application/rtf|application/wasm|application/xml|application/zip|\
        audio/aac|audio/flac|audio/mpeg|audio/ogg|audio/wav|font/otf|font/ttf|font/woff2|image/avif|image/bmp|image/gif|image/jpeg|image/png|image/svg+xml|image/tiff|image/webp|\
        text/css|text/csv|text/html|text/markdown|text/plain|text/xml|video/mp4|video/mpeg|video/ogg|video/quicktime|video/webm",
    ),
];

const SYSTEMS: &str = "Windows NT 10.0; Win64; x64|Windows NT 6.1; WOW64|Macintosh; Intel Mac OS X 10_15_7|Macintosh; Intel Mac OS X 13_4|X11; Linux x86_64|X11; Linux i686|X11; Ubuntu; Linux x86_64|X11; CrOS x86_64 14541.0.0";

fn chrome(rng: &mut Rng) -> String {
    let system = pick(rng, SYSTEMS);
    let (major, build) = (rng.u16(70..140), rng.u16(3000..7300));
    format!(
        "Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.{build}.{} Safari/537.36",
        rng.u16(..200)
    )
}

fn firefox(rng: &mut Rng) -> String {
    let (system, version) = (pick(rng, SYSTEMS), rng.u16(60..140));
    format!("Mozilla/5.0 ({system}; rv:{version}.0) Gecko/20100101 Firefox/{version}.0")
}

fn opera(rng: &mut Rng) -> String {
    let (system, minor) = (pick(rng, SYSTEMS), rng.u16(10..19));
    format!(
        "Opera/9.80 ({system}) Presto/2.{minor}.{} Version/12.{}",
        rng.u16(100..400),
        rng.u8(..19)
    )
}

fn safari(rng: &mut Rng) -> String {
    let (major, minor) = (rng.u8(11..18), rng.u8(..7));
    match rng.u8(..3) {
        0 => format!(
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{major}.{minor} Safari/605.1.15"
        ),
        1 => format!(
            "Mozilla/5.0 (iPad; CPU OS {major}_{minor} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{major}.{minor} Mobile/15E148 Safari/604.1"
        ),
        _ => format!(
            "Mozilla/5.0 (iPhone; CPU iPhone OS {major}_{minor} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{major}.{minor} Mobile/15E148 Safari/604.1"
        ),
    }
}

const IMAGE: &[Argument] =
    &[argument("width", Kind::Number(500.0)), argument("height", Kind::Number(500.0))];
const PASSWORD: &[Argument] = &[
    argument("lower", Kind::Flag(true)),
    argument("upper", Kind::Flag(true)),
    argument("numeric", Kind::Flag(true)),
    argument("special", Kind::Flag(true)),
    argument("space", Kind::Flag(false)),
    argument("length", Kind::Number(12.0)),
];
/// The kinds of characters of a password, in the order of its arguments.
const KINDS: [&str; 5] = [
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0123456789",
    "!@#$%&*+-_=?:;,.",
    " ",
];

/// Random characters of the kinds that are wanted; of small letters if none is.
fn password(rng: &mut Rng, wanted: &[bool], length: usize) -> String {
    let kinds: Vec<&[u8]> = KINDS
        .iter()
        .zip(wanted)
        .filter(|&(_, &is_wanted)| is_wanted)
        .map(|(kind, _)| kind.as_bytes())
        .collect();
    let kinds = if kinds.is_empty() { vec![KINDS[0].as_bytes()] } else { kinds };
    // One of each kind comes first, as far as they fit; then they are mixed.
    let mut signs: Vec<u8> = Vec::with_capacity(length);
    signs.extend(kinds.iter().take(length).filter_map(|kind| rng.choice(*kind).copied()));
    let all = kinds.concat();
    while signs.len() < length {
        signs.extend(rng.choice(&all).copied());
    }
    rng.shuffle(&mut signs);
    signs.into_iter().map(char::from).collect()
}

pub(super) const INTERNET: &[Row] = &[
    text("chromeUserAgent", chrome),
    text("domainName", people::domain),
    list("domainSuffix", SUFFIXES),
    text("firefoxUserAgent", firefox),
    list("httpMethod", "DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT"),
    number("httpStatusCode", |rng| pick(rng, CODES).parse().unwrap_or(200.0)),
    number("httpStatusCodeSimple", |rng| {
        pick(rng, "200|301|302|400|404|500").parse().unwrap_or(200.0)
    }),
    list("httpVersion", "HTTP/1.0|HTTP/1.1|HTTP/2.0"),
    with("imageUrl", IMAGE, |asked| {
        Ok(image(asked.given.count(0, "width")?, asked.given.count(1, "height")?).into())
    }),
    list(
        "inputName",
        "address|age|amount|birthday|card_number|city|code|comment|company|country|description|email|first_name|gender|language|last_name|message|middle_name|mobile|name|password|phone|postcode|quantity|state|street|subject|title|url|username|zip",
    ),
    text("ipv4Address", |rng| std::net::Ipv4Addr::from(rng.u32(..)).to_string()),
    text("ipv6Address", |rng| std::net::Ipv6Addr::from(rng.u128(..)).to_string()),
    list("logLevel", "debug|error|fatal|info|trace|warning"),
    text("macAddress", |rng| {
        let parts: Vec<_> = (0..6).map(|_| format!("{:02x}", rng.u8(..))).collect();
        parts.join(":")
    }),
    text("operaUserAgent", opera),
    with("password", PASSWORD, |asked| {
        let length = asked.given.count(5, "length")?;
        let wanted = [0, 1, 2, 3, 4].map(|index| asked.given.flag(index));
        Ok(password(asked.rng, &wanted, length).into())
    }),
    text("safariUserAgent", safari),
    text("url", |rng| {
        let (scheme, domain) = (pick(rng, "http|https"), people::domain(rng));
        let path: Vec<_> = (0..rng.u8(1..4)).map(|_| words::noun(rng)).collect();
        format!("{scheme}://www.{domain}/{}", path.join("/"))
    }),
    text("userAgent", |rng| {
        let makers = [chrome, firefox, opera, safari];
        let index = rng.usize(..makers.len());
        makers[index](rng)
    }),
    text("username", |rng| format!("{}{}", people::last(rng), rng.u16(1000..10_000))),
];
