//! `--http-debug`: each request and each response as a log line.

use brunt_modules::watch::{Place, Seen, Watcher};

/// Logs heads, and bodies if they are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HttpDebug {
    pub(crate) bodies: bool,
}

impl Watcher for HttpDebug {
    fn exchange(&self, vu: &Place<'_>, seen: &Seen<'_>) {
        let id = uuid();
        let body = seen.request_body().filter(|_| self.bodies).unwrap_or_default();
        let head = request_head(&seen.request_head(), seen.method());
        let request = format!("{head}{}", String::from_utf8_lossy(&body));
        say(vu, &id, &format!("Request:\n{request}\n"));
        if let Some(head) = seen.response_head() {
            let body = if self.bodies { seen.response_body() } else { &[] };
            let text = String::from_utf8_lossy(body);
            let head = response_head(&head, seen.method());
            say(vu, &id, &format!("Response:\n{head}{text}\n"));
        }
    }

    fn check(&self, _: &Place<'_>, _: &str, _: bool) {}
}

/// The head as k6 shows it: the accepted codings come last, though neither k6 nor we send that header.
fn request_head(head: &str, method: &str) -> String {
    let has = |name: &str| {
        head.lines().any(|line| {
            line.split_once(':').is_some_and(|(found, _)| found.eq_ignore_ascii_case(name))
        })
    };
    if method == "HEAD" || has("Accept-Encoding") || has("Range") {
        return head.to_owned();
    }
    format!("{}Accept-Encoding: gzip\n\n", head.strip_suffix('\n').unwrap_or(head))
}

/// The head as k6 shows it: what is about the connection and the body's length first (a length of zero last, unless the
/// request's method goes with a body), then the other headers by name, in their canonical form.
fn response_head(head: &str, method: &str) -> String {
    let goes_with_body = matches!(method, "POST" | "PUT" | "PATCH");
    let mut lines = head.lines();
    let status = lines.next().unwrap_or_default();
    let mut headers: Vec<String> = lines.filter(|line| !line.is_empty()).map(canonical).collect();
    headers.sort_by_cached_key(|line| {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let place = match (name, value.trim()) {
            ("Connection", value) if value.eq_ignore_ascii_case("close") => 0,
            ("Content-Length", "0") if !goes_with_body => 3,
            ("Content-Length" | "Transfer-Encoding", _) => 1,
            _ => 2,
        };
        (place, name.to_owned())
    });
    let mut out = format!("{status}\n");
    for header in headers {
        out.push_str(&header);
        out.push('\n');
    }
    out.push('\n');
    out
}

/// A header's line with its name as HTTP/1.1 mostly writes it: HTTP/2 has small letters.
fn canonical(line: &str) -> String {
    let (name, value) = line.split_at(line.find(':').unwrap_or(line.len()));
    let mut out = String::with_capacity(line.len());
    let mut is_first = true;
    for letter in name.chars() {
        out.push(if is_first { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() });
        is_first = letter == '-';
    }
    out + value
}

fn say(vu: &Place<'_>, id: &str, text: &str) {
    let &Place { group, scenario, vu, iteration } = vu;
    let iter = iteration.unwrap_or(0);
    log::info!(
        group, iter, request_id = id, scenario, source = "http-debug", vu;
        "{text}"
    );
}

/// A random UUID (version 4), by which a response finds its request in the log.
fn uuid() -> String {
    let bits = fastrand::u128(..);
    let bits = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    #[test]
    fn heads_stand_as_in_k6() {
        let shown = super::request_head("GET / HTTP/1.1\nHost: a\nB: c\n\n", "GET");
        assert_eq!(shown, "GET / HTTP/1.1\nHost: a\nB: c\nAccept-Encoding: gzip\n\n");
        let ranged = "GET / HTTP/1.1\nHost: a\nRange: bytes=0-1\n\n";
        assert_eq!(super::request_head(ranged, "GET"), ranged);
        let shown = super::response_head(
            "HTTP/1.1 200 OK\nServer: x\nDate: d\nContent-Length: 5\n\n",
            "GET",
        );
        assert_eq!(shown, "HTTP/1.1 200 OK\nContent-Length: 5\nDate: d\nServer: x\n\n");
        let none = "HTTP/2.0 204 \ncontent-length: 0\nx-a: B\ndate: d\n\n";
        let shown = super::response_head(none, "GET");
        assert_eq!(shown, "HTTP/2.0 204 \nDate: d\nX-A: B\nContent-Length: 0\n\n");
        let shown = super::response_head(none, "POST");
        assert_eq!(shown, "HTTP/2.0 204 \nContent-Length: 0\nDate: d\nX-A: B\n\n");
        let shown = super::response_head(
            "HTTP/1.1 200 OK\nA: b\nConnection: close\nTransfer-Encoding: chunked\n\n",
            "GET",
        );
        assert_eq!(
            shown,
            "HTTP/1.1 200 OK\nConnection: close\nTransfer-Encoding: chunked\nA: b\n\n"
        );
    }

    #[test]
    fn a_uuid_tells_its_version() {
        let id = super::uuid();
        assert_eq!(id.len(), 36);
        assert_eq!(&id[14..15], "4");
        assert!("89ab".contains(&id[19..20]), "{id}");
    }
}
