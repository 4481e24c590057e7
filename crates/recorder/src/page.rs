//! The recorder's own pages.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};

use crate::Authority;
use crate::forward::Answer;

/// The host whose pages are ours, seen through the proxy.
pub(crate) const HOST: &str = "brunt.record";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:46em;margin:3em auto;padding:0 1em}\
                     code{background:#8882;padding:.1em .3em;overflow-wrap:anywhere}";

/// The request could not be passed on: why, and how to go on.
pub(crate) fn failed(status: StatusCode, title: &str, why: &str, advice: &str) -> Answer {
    html(
        status,
        &format!(
            "<h1>{}</h1><p>{}</p><p>{}</p><p><small>This page is brunt record's, not the server's.</small></p>",
            escaped(title),
            escaped(why),
            escaped(advice)
        ),
        title,
    )
}

/// Somebody took the proxy for a server.
pub(crate) fn not_a_server(address: &str, path: &str) -> Answer {
    html(
        StatusCode::BAD_REQUEST,
        &format!(
            "<h1>This is a proxy</h1><p>brunt record listens here. It got a request for <code>{}</code> as if it were the \
             application itself. Set <code>{address}</code> as the proxy of your browser (HTTP and HTTPS), and open the \
             application by its own address.</p><p>For HTTPS the browser must trust the recorder's certificate: \
             <a href=\"/ca.pem\">PEM</a>, <a href=\"/ca.crt\">DER</a>.</p>",
            escaped(path)
        ),
        "This is a proxy",
    )
}

/// Our host's pages: the certificate, and what to do with it.
pub(crate) fn own(path: &str, authority: &Authority) -> Answer {
    if let Some(answer) = certificate(path, authority) {
        return answer;
    }
    if path != "/" {
        return html(
            StatusCode::NOT_FOUND,
            "<h1>No such page</h1><p><a href=\"/\">brunt record</a></p>",
            "No such page",
        );
    }
    html(
        StatusCode::OK,
        &format!(
            "<h1>brunt record</h1><p>This browser goes through the recorder. For HTTPS it must trust the recorder's certificate \
             authority, which was made on this machine and never leaves it:</p><ul><li><a href=\"/ca.pem\">ca.pem</a> (Firefox, curl, \
             Linux)</li><li><a href=\"/ca.crt\">ca.crt</a> (Windows, macOS, Android, Java)</li></ul><p>SHA-256: <code>{}</code></p><p>\
             <code>brunt record ca</code> says how. Take it out again when you are done.</p>",
            authority.fingerprint()
        ),
        "brunt record",
    )
}

/// The certificate, at the paths that offer it.
pub(crate) fn certificate(path: &str, authority: &Authority) -> Option<Answer> {
    let (bytes, name) = match path {
        "/ca.pem" => (Bytes::from(authority.pem()), "brunt-record-ca.pem"),
        "/ca.crt" => (Bytes::copy_from_slice(authority.der()), "brunt-record-ca.crt"),
        _ => return None,
    };
    let mut answer = Response::new(whole(bytes));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-x509-ca-cert"));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Some(answer)
}

fn html(status: StatusCode, body: &str, title: &str) -> Answer {
    let text = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{}</title><style>{STYLE}</style>{body}</html>\n",
        escaped(title)
    );
    let mut answer = Response::new(whole(Bytes::from(text)));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// A body that is there already.
pub(crate) fn whole(bytes: Bytes) -> crate::forward::OutBody {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_no_markup() {
        assert_eq!(escaped("<a href=\"b\">&"), "&lt;a href=&quot;b&quot;&gt;&amp;");
    }
}
