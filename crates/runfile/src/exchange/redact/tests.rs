use super::*;

fn cleaned(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let veil = |text: &str| text.contains("hunter2").then(|| text.replace("hunter2", "•"));
    body(&mut bytes, &veil, &mut Values::default());
    String::from_utf8(bytes).unwrap()
}

#[test]
fn fields_that_are_called_so_are_struck_out() {
    for (text, clean) in [
        ("user=a&password=b&x=", "user=a&password=¤&x="),
        (r#"{"user":"a","Pass_Word" : "b\"c","n":1}"#, r#"{"user":"a","Pass_Word" : "¤","n":1}"#),
        (r#"{"access_token":123,"b":"token"}"#, r#"{"access_token":"¤","b":"token"}"#),
        (
            r#"{"token":null,"tokens":{"x":"y","z":["}"]},"a":1}"#,
            r#"{"token":null,"tokens":"¤","a":1}"#,
        ),
        (r#"{"secrets":["a","b"],"c":[1]}"#, r#"{"secrets":"¤","c":[1]}"#),
        (r#"{"secret":"cut of"#, r#"{"secret":"¤"#),
        (
            r#"{"data":"{\"password\":\"b\",\"c\":1}"}"#,
            r#"{"data":"{\"password\":\"¤\",\"c\":1}"}"#,
        ),
        (
            r#"{"query":"mutation { login(password: \"b c\") }"}"#,
            r#"{"query":"mutation { login(password: \"¤\") }"}"#,
        ),
        (
            r#"{"headers":{"Authorization":"Bearer x","Cookie":"a=b","Accept":"c"}}"#,
            r#"{"headers":{"Authorization":"¤","Cookie":"¤","Accept":"c"}}"#,
        ),
        (
            r#"[{"name":"password","value":"b"},{"name":"a","value":"c"}]"#,
            r#"[{"name":"password","value":"¤"},{"name":"a","value":"c"}]"#,
        ),
        (
            r#"[{"key":"password","value":"b"},{"key":"a-key","n":1}]"#,
            r#"[{"key":"password","value":"¤"},{"key":"¤","n":1}]"#,
        ),
        ("<a><password>b c</password><n>1</n></a>", "<a><password>¤</password><n>1</n></a>"),
        (
            "<s:Password Type=\"x\"><![CDATA[b]]></s:Password>",
            "<s:Password Type=\"x\"><![CDATA[¤]]></s:Password>",
        ),
        ("<user password=\"b\" n=\"1\"/>", "<user password=\"¤\" n=\"1\"/>"),
        (
            "<input type=hidden name=\"csrf\" value=\"b\"><input name=a value=c>",
            "<input type=hidden name=\"csrf\" value=\"¤\"><input name=a value=c>",
        ),
        ("password: b c\nuser: d\n", "password: ¤\nuser: d\n"),
        ("{'token': 'b', 'c': 'd'}", "{'token': '¤', 'c': 'd'}"),
        (
            "see http://u:p@h.test/a and http://h.test/b",
            "see http://¤@h.test/a and http://h.test/b",
        ),
        ("I say hunter2", "I say •"),
        ("nothing = \"here\"\n", "nothing = \"here\"\n"),
        ("a token in a text, and two: passengers", "a token in a text, and two: passengers"),
        (
            "--X\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nsesame\r\n--X\r\ncontent-disposition: form-data; filename=\"key\"; name=a\r\n\r\n{\"pwd\":\"1\"}\r\n--X--",
            "--X\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n¤\r\n--X\r\ncontent-disposition: form-data; filename=\"key\"; name=a\r\n\r\n{\"pwd\":\"¤\"}\r\n--X--",
        ),
    ] {
        assert_eq!(cleaned(text), clean.replace('¤', STRUCK), "{text}");
    }
}

#[test]
fn fields_between_bytes_that_are_no_text_are_found_and_nothing_else_changes() {
    let mut bytes = b"--X\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n\xff\x00\xfe\r\n--X\r\nContent-Disposition: form-data; name=\"pwd\"\r\n\r\nopen\r\n--X--".to_vec();
    body(&mut bytes, &|_| None, &mut Values::default());
    assert!(bytes.windows(3).any(|three| three == b"\xff\x00\xfe"));
    assert!(!bytes.windows(4).any(|four| four == b"open"));
    let mut odd: Vec<u8> = (0..=255).collect();
    let before = odd.clone();
    body(&mut odd, &|_| None, &mut Values::default());
    assert_eq!(odd, before);
}

#[test]
fn urls_and_headers_too() {
    let mut seen = Exchange {
        url: "https://u:p@h.test/a?api_key=1&b=2#x".into(),
        request_headers: vec![
            ("Authorization".into(), "Bearer x".into()),
            ("X-Auth-Token".into(), "y".into()),
            ("Accept".into(), "hunter2".into()),
        ],
        response_headers: vec![("Set-Cookie".into(), "a=b".into())],
        ..Exchange::default()
    };
    seen.clean(|text| text.contains("hunter2").then(|| "•".to_owned()));
    assert_eq!(seen.url, format!("https://{STRUCK}@h.test/a?api_key={STRUCK}&b=2#x"));
    let values: Vec<&str> = seen.request_headers.iter().map(|(_, value)| &**value).collect();
    assert_eq!(values, [STRUCK, STRUCK, "•"]);
    assert_eq!(seen.response_headers[0].1, STRUCK);
    for (url, clean) in [
        ("relative?token=a", "relative?token=¤"),
        ("//u:p@h/", "//¤@h/"),
        ("http://h/cb#access_token=a&b=c", "http://h/cb#access_token=¤&b=c"),
        ("http://h/a;jsessionid=b/c;d=e?f=g", "http://h/a;jsessionid=¤/c;d=e?f=g"),
        ("http://h/a?pass%77ord=b&user%5Bpass%5D=c", "http://h/a?pass%77ord=¤&user%5Bpass%5D=¤"),
        ("http://h/a@b?c=d@e", "http://h/a@b?c=d@e"),
    ] {
        assert_eq!(address(url), clean.replace('¤', STRUCK));
    }
}

#[test]
fn a_value_that_was_struck_out_is_found_wherever_it_comes_back() {
    let mut seen = Exchange {
        url: "http://h.test/a".into(),
        request_headers: vec![
            ("Authorization".into(), "Bearer abcdef123".into()),
            ("Cookie".into(), "sid=kooky-monster; b=1".into()),
        ],
        request_body: Some(b"{\"password\":\"open-sesame\"}".to_vec()),
        response_headers: vec![("X-Echo".into(), "kooky-monster".into())],
        response_body: Some(b"you sent open-sesame and abcdef123".to_vec()),
        error: Some("no open-sesame".into()),
        ..Exchange::default()
    };
    seen.clean(|_| None);
    let told =
        format!("{seen:?} {}", String::from_utf8_lossy(&seen.response_body.clone().unwrap()));
    for secret in ["open-sesame", "abcdef123", "kooky-monster"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}

#[test]
fn a_packed_body_is_not_kept() {
    let mut seen = Exchange {
        request_headers: vec![("Content-Encoding".into(), "gzip".into())],
        request_body: Some(vec![31, 139, 8]),
        request_size: 3,
        ..Exchange::default()
    };
    seen.clean(|_| None);
    assert_eq!(seen.request_body, None);
    assert!(seen.curl().ends_with("--data-binary @body # 3 bytes"), "{}", seen.curl());
}

#[test]
fn bodies_are_cut_where_a_letter_ends() {
    let long = "é".repeat(BODY_MAX);
    let clean = cleaned(&long);
    assert_eq!(clean.len(), BODY_MAX);
    let odd = format!("a{long}");
    assert_eq!(cleaned(&odd).len(), BODY_MAX - 1);
    let mut odd = vec![0xff; BODY_MAX * 2];
    body(&mut odd, &|_| None, &mut Values::default());
    assert_eq!(odd.len(), BODY_MAX);
}

proptest::proptest! {
    #[test]
    fn no_text_is_a_trap(text in "[a-c\"'\\\\{}\\[\\]:=<>/ \n-]{0,40}(password|<token|name=\"key\")[a-c\"'\\\\{}\\[\\]:=<>/ \n-]{0,60}") {
        cleaned(&text);
    }

    #[test]
    fn no_bytes_are_a_trap(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        body(&mut bytes.clone(), &|_| None, &mut Values::default());
    }
}
