//! Recordings that no browser makes: nothing panics, and the laws hold.

use std::time::Duration;

use brunt_correlate::{Reply, compare, correlate, find};
use brunt_traffic::{Body, Exchange, Headers, Recording, Request, Response};
use proptest::prelude::*;

const TEXTS: [&str; 26] = [
    "",
    "7",
    "é\u{1F600}",
    "a1b2c3d4e5f6",
    "<form action='/7/é'><input type=hidden name=a value=a1b2c3d4e5f6>",
    "{\"a\":[{\"id\":7,\"b\":\"a1b2c3d4e5f6\"}]}",
    "[[[[",
    "\"\\u12",
    "a=7&b=a1b2c3d4e5f6&%zz=%4",
    "%E9%",
    "/x/7?id=7#a=b",
    "<update id=\"x\"><![CDATA[a1b2c3d4e5f6",
    "<partial-response><update id='v'><![CDATA[a1b2c3d4e5f6]]></update>",
    "<script>var x = 'a1b2c3d4e5f6",
    "<a onclick=\"go('é','a1b2c3d4e5f6')\">",
    "Bearer a1b2c3d4e5f6",
    "--X\r\n\r\n--X--",
    "data: {\"id\":7}\n\n",
    "id=a1b2c3d4e5f6; Path=/",
    "é=a1b2c3d4e5f6",
    ";jsessionid=",
    "q=é|a1b2c3d4e5f6|7",
    "1764150000123",
    "<p>Order a1b2c3d4e5f6 was é made</p>",
    "5761b1b3-8a43-4ba4-b111-0123456789ab",
    "YTFiMmMzZDRlNWY2",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0..TEXTS.len()).prop_map(|index| TEXTS[index].to_owned()),
        2 => (0..TEXTS.len(), 0..TEXTS.len()).prop_map(|(one, other)| format!("{}{}", TEXTS[one], TEXTS[other])),
        1 => ".{0,20}",
    ]
}

fn headers() -> impl Strategy<Value = Headers> {
    const NAMES: [&str; 9] = [
        "Content-Type",
        "Location",
        "Set-Cookie",
        "Cookie",
        "X-Token",
        "Authorization",
        "ETag",
        "Content-Type",
        "é",
    ];
    const KINDS: [&str; 6] = [
        "text/html",
        "application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=X",
        "text/event-stream",
        "text/javascript",
    ];
    let one = (0..NAMES.len(), 0..KINDS.len(), text()).prop_map(|(name, kind, text)| {
        let value = if NAMES[name] == "Content-Type" { KINDS[kind].to_owned() } else { text };
        (NAMES[name].to_owned(), value)
    });
    prop::collection::vec(one, 0..4).prop_map(Headers)
}

fn exchange() -> impl Strategy<Value = Exchange> {
    let request = (prop::sample::select(vec!["GET", "POST", "PUT", ""]), text(), headers(), text());
    let response = proptest::option::of((
        prop::sample::select(vec![200_u16, 302, 307, 101, 0]),
        headers(),
        text(),
    ));
    (request, response, 0..5_u64).prop_map(|((method, path, sent, body), response, at)| {
        let base =
            url::Url::parse("http://h.test/items/").unwrap_or_else(|_| unreachable!("a URL"));
        Exchange {
            number: 0,
            sent: Duration::from_secs(at),
            done: Duration::from_secs(at),
            request: Request {
                method: method.to_owned(),
                url: base.join(&path).unwrap_or(base),
                version: None,
                headers: sent,
                body: Body::Bytes(body.into()),
            },
            response: response.map(|(status, headers, body)| Response {
                status,
                headers,
                body: Body::Bytes(body.into()),
            }),
            failure: None,
            resource: None,
            messages: Vec::new(),
            events: Vec::new(),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_recording_panics_and_finders_find_what_was_recorded(exchanges in prop::collection::vec(exchange(), 0..9)) {
        let recording = Recording { exchanges, began: Some(1_764_150_000), ..Recording::default() };
        let plan = correlate(&recording);
        for own in &plan.extractions {
            let reply = Reply::recorded(&recording, own.exchange);
            prop_assert!(reply.is_some());
            if let Some(reply) = reply {
                for source in &own.candidates {
                    let found = find(source, &reply, &|pieces| plan.recorded(pieces));
                    prop_assert_eq!(found.as_deref(), Some(own.recorded.as_str()));
                }
            }
        }
        for own in &plan.substitutions {
            prop_assert!(plan.recorded(&own.pieces).is_some());
        }
        compare(&recording, &recording);
    }
}
