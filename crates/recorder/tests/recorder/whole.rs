//! Requests and responses, recorded whole.

use brunt_recorder::Upstream;
use brunt_traffic::Resource;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request};
use http_body_util::BodyExt as _;
use http_body_util::channel::Channel;

use crate::client::{Client, text, whole};
use crate::server::{Server, TestAuthority, gzip};
use crate::{Running, body, of};

fn insecure() -> Upstream {
    Upstream { insecure: true, ..Upstream::default() }
}

#[tokio::test]
async fn a_request_for_http_is_passed_on_and_recorded() {
    let server = Server::plain().await;
    let running = Running::start(Upstream::default()).await;
    let mut client = Client::plain(running.address).await;
    let at = server.authority();
    let request = Request::post(format!("http://{at}/echo?a=b%20c"))
        .header("host", &at)
        .header("proxy-authorization", "Basic x")
        .header("proxy-connection", "keep-alive")
        .header("x-mine", "1")
        .body(whole("name=value"))
        .unwrap();
    let response = client.send(request).await;
    assert!(response.headers().get("alt-svc").is_none(), "the browser stays");
    assert!(response.headers().get("x-secret").is_none());
    let (status, echo) = text(response).await;
    assert_eq!(status, 200);
    assert!(echo.starts_with("POST HTTP/1.1\n") && echo.ends_with("\n\nname=value"), "{echo}");
    assert!(echo.contains("x-mine: 1\n") && echo.contains(&format!("host: {at}\n")), "{echo}");
    assert!(!echo.contains("proxy-"), "{echo}");
    running.marker.step("Second");
    client.get(&format!("http://{at}/second"), &at).await;
    let (recording, _folder) = running.end().await;
    let exchange = of(&recording, "/echo");
    assert_eq!(exchange.request.url.as_str(), format!("http://{at}/echo?a=b%20c"));
    assert_eq!(exchange.request.version.as_deref(), Some("HTTP/1.1"));
    assert_eq!(exchange.request.body.in_memory(), Some(&b"name=value"[..]));
    assert_eq!(exchange.request.headers.get("x-mine"), Some("1"));
    assert!(exchange.request.headers.get("proxy-authorization").is_none());
    assert_eq!(body(exchange), echo);
    assert!(exchange.done >= exchange.sent && exchange.failure.is_none());
    assert_eq!(exchange.response.as_ref().unwrap().headers.get("alt-svc"), Some("h3=\":443\""));
    let step = &recording.steps[0];
    assert_eq!(step.name, "Second");
    assert!(step.at >= exchange.done && step.at <= of(&recording, "/second").sent);
    assert_eq!(recording.exchanges.iter().map(|it| it.number).collect::<Vec<_>>(), [0, 1]);
    assert!(recording.began.is_some_and(|began| began > 1_700_000_000));
}

#[tokio::test]
async fn each_version_meets_each_version() {
    let authority = TestAuthority::new();
    for server_speaks in [&["h2", "http/1.1"][..], &["http/1.1"], &[]] {
        let tls = authority.server(&["localhost"], server_speaks, false);
        let server = Server::start(Some(tls)).await;
        let at = server.authority();
        for is_http2 in [true, false] {
            let running = Running::start(insecure()).await;
            let der = running.authority.der().to_vec();
            let mut client = Client::tls(running.address, &at, &der, is_http2).await;
            let target = if is_http2 { format!("https://{at}/echo") } else { "/echo".to_owned() };
            let mut request = Request::post(target)
                .header("cookie", "a=1")
                .header("cookie", "b=2")
                .header("sec-fetch-dest", "document");
            if !is_http2 {
                request = request.header("host", &at);
            }
            let (status, echo) =
                text(client.send(request.body(whole("hello")).unwrap()).await).await;
            let upstream = if server_speaks.first() == Some(&"h2") { "2.0" } else { "1.1" };
            assert_eq!(status, 200);
            assert!(echo.starts_with(&format!("POST HTTP/{upstream}\n")), "{echo}");
            assert!(echo.contains("cookie: a=1; b=2\n") && echo.ends_with("\n\nhello"), "{echo}");
            let (recording, _folder) = running.end().await;
            let exchange = of(&recording, "/echo");
            assert_eq!(exchange.request.url.as_str(), format!("https://{at}/echo"));
            let version = if is_http2 { "h2" } else { "HTTP/1.1" };
            assert_eq!(exchange.request.version.as_deref(), Some(version));
            assert_eq!(exchange.request.headers.get("cookie"), Some("a=1; b=2"));
            assert_eq!(exchange.resource, Some(Resource::Document));
            assert_eq!(body(exchange), echo);
        }
    }
}

#[tokio::test]
async fn codings_are_taken_off_for_the_record_alone() {
    let server = Server::plain().await;
    let running = Running::start(Upstream::default()).await;
    let mut client = Client::plain(running.address).await;
    let at = server.authority();
    let request =
        Request::get(format!("http://{at}/gzip")).header("host", &at).body(whole("")).unwrap();
    let packed = client.send(request).await.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(packed, gzip(b"<p>a packed page</p>"));
    let (recording, _folder) = running.end().await;
    let exchange = of(&recording, "/gzip");
    assert_eq!(body(exchange), "<p>a packed page</p>");
    assert_eq!(exchange.response.as_ref().unwrap().headers.get("content-encoding"), Some("gzip"));
}

#[tokio::test]
async fn chunks_and_trailers_pass_both_ways() {
    let server = Server::plain().await;
    let running = Running::start(Upstream::default()).await;
    let mut client = Client::tunnel(running.address, &server.authority()).await;
    let (mut sender, chunks) = Channel::new(4);
    let send = tokio::spawn(async move {
        sender.send_data(Bytes::from("part ")).await.unwrap();
        sender.send_data(Bytes::from("by part")).await.unwrap();
        let mut trailers = HeaderMap::new();
        trailers.insert("x-end", HeaderValue::from_static("yes"));
        sender.send_trailers(trailers).await.unwrap();
    });
    let request = Request::post("/echo")
        .header("host", server.authority())
        .header("te", "trailers")
        .header("trailer", "x-end")
        .header("expect", "100-continue")
        .body(chunks.boxed_unsync())
        .unwrap();
    let (_, echo) = text(client.send(request).await).await;
    send.await.unwrap();
    assert!(echo.contains("\n\npart by part\n") && echo.contains("x-end"), "{echo}");
    let request = Request::get("/chunked")
        .header("host", server.authority())
        .header("te", "trailers")
        .body(whole(""))
        .unwrap();
    let collected = client.send(request).await.into_body().collect().await.unwrap();
    assert_eq!(collected.trailers().unwrap()["x-sum"], "42");
    assert_eq!(collected.to_bytes(), "one two");
    let (recording, _folder) = running.end().await;
    assert_eq!(of(&recording, "/echo").request.body.in_memory(), Some(&b"part by part"[..]));
    assert_eq!(body(of(&recording, "/chunked")), "one two");
}

#[tokio::test]
async fn responses_without_a_body_have_none() {
    let server = Server::plain().await;
    let running = Running::start(Upstream::default()).await;
    let mut client = Client::plain(running.address).await;
    let at = server.authority();
    for (method, path, expected) in [
        ("HEAD", "/big?1000", 200),
        ("GET", "/204", 204),
        ("GET", "/304", 304),
        ("GET", "/end", 200),
    ] {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{at}{path}"))
            .header("host", &at)
            .body(whole(""))
            .unwrap();
        let response = client.send(request).await;
        if method == "HEAD" {
            assert_eq!(response.headers()["content-length"], "1000");
        }
        let (status, body) = text(response).await;
        assert_eq!((status, body.is_empty()), (expected, path != "/end"), "{path}");
    }
    let (recording, _folder) = running.end().await;
    assert_eq!(recording.exchanges.len(), 4);
    for exchange in &recording.exchanges[..3] {
        let response = exchange.response.as_ref().unwrap();
        assert_eq!(response.body.size(), Some(0));
        assert!(exchange.failure.is_none());
    }
}

#[tokio::test]
async fn requests_beyond_the_limit_are_passed_on_and_counted() {
    let server = Server::plain().await;
    let running = Running::start_with(|config| config.limits.exchanges = 2).await;
    let mut client = Client::plain(running.address).await;
    let at = server.authority();
    for path in ["/a", "/b", "/c"] {
        let (status, text) = client.get(&format!("http://{at}{path}"), &at).await;
        assert_eq!((status, text.as_str()), (200, path));
    }
    let (recording, _folder) = running.end().await;
    assert_eq!(recording.exchanges.len(), 2);
    assert_eq!(recording.left_out.iter().map(|(_, count)| count).sum::<u64>(), 1);
}
