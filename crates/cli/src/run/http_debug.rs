//! `--http-debug`: each request and each response as a log line.

use brunt_modules::watch::{Place, Seen, Watcher};

/// Logs heads, and bodies if they are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HttpDebug {
    pub(super) bodies: bool,
}

impl Watcher for HttpDebug {
    fn exchange(&self, vu: &Place<'_>, seen: &Seen<'_>) {
        let id = uuid();
        let body = seen.request_body().filter(|_| self.bodies).unwrap_or_default();
        let request = format!("{}{}", seen.request_head(), String::from_utf8_lossy(&body));
        say(vu, &id, &format!("Request:\n{request}\n"));
        if let Some(head) = seen.response_head() {
            let body = if self.bodies { seen.response_body() } else { &[] };
            let text = String::from_utf8_lossy(body);
            say(vu, &id, &format!("Response:\n{head}{text}\n"));
        }
    }

    fn check(&self, _: &Place<'_>, _: &str, _: bool) {}
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
    fn a_uuid_tells_its_version() {
        let id = super::uuid();
        assert_eq!(id.len(), 36);
        assert_eq!(&id[14..15], "4");
        assert!("89ab".contains(&id[19..20]), "{id}");
    }
}
