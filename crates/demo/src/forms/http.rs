//! The form application as HTTP: cookies and forms come in, pages and redirects go out.

use bytes::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_TYPE, COOKIE, HeaderMap, HeaderValue, LOCATION, SET_COOKIE,
};
use hyper::{Method, StatusCode};
use sha2::{Digest, Sha256};

use super::resource;
use super::respond::{Answer, Ask, File, Posted};
use super::view::Page;
use crate::call::Call;
use crate::plain::multipart::{self, Malformed};
use crate::plain::upload;
use crate::reply::{self, Refusal, Reply};
use crate::routes::Route;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=UTF-8");
const XML: HeaderValue = HeaderValue::from_static("text/xml; charset=UTF-8");

/// Largest body of a form without a file.
const FORM_MAX: usize = 1 << 20;
/// The maximum number of fields that are looked at.
const FIELDS_MAX: usize = 1000;
/// Bytes of a part that is no file; others are not looked at.
const FIELD_MAX: usize = 64 * 1024;

/// Answers `/app/{rest}`.
pub(crate) async fn answer(
    call: &mut Call<'_>,
    route: Route,
    rest: &str,
) -> Result<Reply, Refusal> {
    let page = match route {
        Route::FormLogin => Some(Page::Login),
        Route::FormOrders => Some(Page::Orders),
        Route::FormOrder => Some(Page::Order),
        Route::FormUpload => Some(Page::Upload),
        Route::FormLogout => None,
        Route::FormResource => {
            return resource::answer(call, rest.split_once('/').map_or("", |(_, name)| name));
        }
        _ if rest.is_empty() => return Ok(redirect(Page::Login.path())),
        _ => return Err(reply::not_found()),
    };
    let is_post = call.parts.method == Method::POST;
    if page.is_none() && !is_post {
        return Err(reply::wrong_method("POST"));
    }
    if !is_post && !call.is_get() {
        return Err(reply::wrong_method("GET, HEAD, POST"));
    }
    let ask = Ask {
        page,
        is_post,
        is_partial: is_post && call.header("faces-request") == Some("partial/ajax"),
        session: session(&call.parts.headers),
        order: call.query().get("id").and_then(|id| id.parse().ok()),
        posted: if is_post { posted(call).await? } else { Posted::default() },
    };
    let app = call.app;
    let answer = call.compute(|| app.forms.respond(&ask));
    Ok(reply(answer))
}

/// The session that the cookie names. Other cookies in the header, of other servers on this host, may be any bytes.
fn session(headers: &HeaderMap) -> Option<u128> {
    let values = headers.get_all(COOKIE).iter();
    let pairs = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    let mut pairs = pairs.filter_map(|pair| str::from_utf8(pair).ok()?.split_once('='));
    pairs.find_map(|(name, value)| {
        let value = value.trim();
        let is_id = value.len() == 32 && value.bytes().all(|digit| digit.is_ascii_hexdigit());
        (name.trim() == "JSESSIONID" && is_id).then(|| u128::from_str_radix(value, 16).ok())?
    })
}

/// The fields of the request's form, URL-encoded or multipart. Any other body has none.
async fn posted(call: &mut Call<'_>) -> Result<Posted, Refusal> {
    let content_type = call.header(CONTENT_TYPE).unwrap_or("").to_owned();
    let kind = content_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    match kind.as_str() {
        "multipart/form-data" => {
            let body = call.whole_body(usize::MAX).await?;
            let posted = call.compute(|| parts(&content_type, &body.bytes));
            posted.map_err(|malformed| upload::refuse(&malformed))
        }
        "application/x-www-form-urlencoded" => {
            let body = call.whole_body(FORM_MAX).await?;
            let fields = url::form_urlencoded::parse(&body.bytes).into_owned();
            Ok(Posted { fields: fields.take(FIELDS_MAX).collect(), file: None })
        }
        _ => Ok(Posted::default()),
    }
}

/// The parts of a multipart body. Its first file is hashed; an empty one without a name is a field in which none was chosen.
fn parts(content_type: &str, body: &Bytes) -> Result<Posted, Malformed> {
    let mut posted = Posted::default();
    for part in multipart::parse(content_type, body)? {
        match part.filename {
            None => {
                let content = &part.content[..part.content.len().min(FIELD_MAX)];
                posted.fields.push((part.name, String::from_utf8_lossy(content).into_owned()));
            }
            Some(name)
                if posted.file.is_none() && !(name.is_empty() && part.content.is_empty()) =>
            {
                let sha256 = upload::hex(&Sha256::digest(&part.content));
                posted.file = Some(File { name, bytes: part.content.len(), sha256 });
            }
            Some(_) => {}
        }
    }
    Ok(posted)
}

fn reply(answer: Answer) -> Reply {
    let mut reply = if let Some(path) = answer.location {
        redirect(path)
    } else {
        let content_type = if answer.is_partial { XML } else { HTML };
        let status = StatusCode::from_u16(answer.status);
        let status = status.expect("the rules know no other statuses than those of HTTP");
        reply::with_status(reply::typed(content_type, answer.text), status)
    };
    let headers = reply.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(id) = answer.session {
        let cookie = format!("JSESSIONID={id:032X}; HttpOnly; Path=/app");
        let cookie = HeaderValue::try_from(cookie).expect("digits are visible ASCII");
        headers.insert(SET_COOKIE, cookie);
    }
    reply
}

fn redirect(path: &'static str) -> Reply {
    let mut reply = reply::bare(StatusCode::FOUND);
    reply.headers_mut().insert(LOCATION, HeaderValue::from_static(path));
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_is_found_among_cookies() {
        let id = "0123456789ABCDEF0123456789ABCDEF";
        let found = |cookies: &[&str]| {
            let mut headers = HeaderMap::new();
            for cookie in cookies {
                headers.append(COOKIE, HeaderValue::from_bytes(cookie.as_bytes()).unwrap());
            }
            session(&headers).map(|id| format!("{id:032X}"))
        };
        assert_eq!(found(&[&format!("a=b; JSESSIONID={id}; c")]).as_deref(), Some(id));
        assert_eq!(found(&["x=y", &format!("JSESSIONID={id}")]).as_deref(), Some(id));
        assert_eq!(found(&[&format!("name=Zoë; JSESSIONID={id} ; x=é")]).as_deref(), Some(id));
        for none in
            ["", "JSESSIONID=", "JSESSIONID=+123456789ABCDEF0123456789ABCDEF", "JSESSIONIDX"]
        {
            assert_eq!(found(&[none]), None, "{none}");
        }
    }

    #[test]
    fn the_first_file_is_taken_and_an_empty_choice_is_none() {
        let part = |head: &str, content: &str| {
            format!("--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
        };
        let read = |body: String| {
            parts("multipart/form-data; boundary=x", &Bytes::from(body + "--x--\r\n")).unwrap()
        };
        let posted = read(part("name=\"f\"; filename=\"\"", "") + &part("name=\"a\"", "b+c"));
        assert!(posted.file.is_none());
        assert_eq!(posted.get("a"), "b+c");
        let two =
            part("name=\"f\"; filename=\"1\"", "abc") + &part("name=\"g\"; filename=\"2\"", "");
        let file = read(two).file.unwrap();
        assert_eq!((file.name.as_str(), file.bytes), ("1", 3));
        assert!(file.sha256.starts_with("ba7816bf8f01cfea"));
    }
}
