//! The flags of curl: what each means for a script.

/// The use of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Url,
    Method,
    Header,
    /// `-d`, `--data-ascii`: a file loses its line ends.
    Data,
    DataRaw,
    DataBinary,
    DataUrlencode,
    Json,
    Form,
    FormString,
    Get,
    Head,
    User,
    Bearer,
    Agent,
    Cookie,
    Referer,
    UrlQuery,
    Upload,
    Range,
    Next,
    Compressed,
    GlobOff,
    /// Another way to prove who one is than basic authentication.
    OtherAuth,
    /// Certificates are not checked.
    Insecure,
    /// Has a value that matters, but not here: the note says where it goes.
    Noted(&'static str),
    /// Has no effect on what a script sends.
    Nothing,
    /// Can't be read.
    Refused(&'static str),
}

/// A flag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flag {
    pub(super) short: char,
    pub(super) long: &'static str,
    pub(super) has_value: bool,
    pub(super) effect: Effect,
}

/// A flag without a value.
const fn switch(short: char, long: &'static str, effect: Effect) -> Flag {
    Flag { short, long, has_value: false, effect }
}

/// A flag with a value.
const fn value(short: char, long: &'static str, effect: Effect) -> Flag {
    Flag { short, long, has_value: true, effect }
}

use Effect::{Noted, Nothing, Refused};

/// There is no short form.
const NONE: char = '\0';

/// Goes into the script's options.
const TLS: &str = "is an option of the script: see tlsAuth and tlsVersion";
/// Goes to the system.
const PROXY: &str = "is not in the script: set HTTP_PROXY or HTTPS_PROXY when it runs";
/// Where names lead.
const HOSTS: &str = "is an option of the script: see hosts";
/// How long.
const TIMEOUT: &str = "is a parameter of the request in the script: timeout";
/// Bodies that come from elsewhere.
const CONFIG: &str = "reads a file of flags; write its flags here";

/// All that are read.
const FLAGS: &[Flag] = &[
    value(NONE, "url", Effect::Url),
    value('X', "request", Effect::Method),
    value('H', "header", Effect::Header),
    value('d', "data", Effect::Data),
    value(NONE, "data-ascii", Effect::Data),
    value(NONE, "data-raw", Effect::DataRaw),
    value(NONE, "data-binary", Effect::DataBinary),
    value(NONE, "data-urlencode", Effect::DataUrlencode),
    value(NONE, "json", Effect::Json),
    value('F', "form", Effect::Form),
    value(NONE, "form-string", Effect::FormString),
    switch('G', "get", Effect::Get),
    switch('I', "head", Effect::Head),
    value('u', "user", Effect::User),
    value(NONE, "oauth2-bearer", Effect::Bearer),
    value('A', "user-agent", Effect::Agent),
    value('b', "cookie", Effect::Cookie),
    value('e', "referer", Effect::Referer),
    value(NONE, "url-query", Effect::UrlQuery),
    value('T', "upload-file", Effect::Upload),
    value('r', "range", Effect::Range),
    switch(':', "next", Effect::Next),
    switch(NONE, "compressed", Effect::Compressed),
    switch('g', "globoff", Effect::GlobOff),
    switch(NONE, "digest", Effect::OtherAuth),
    switch(NONE, "ntlm", Effect::OtherAuth),
    switch(NONE, "negotiate", Effect::OtherAuth),
    switch(NONE, "anyauth", Effect::OtherAuth),
    value(NONE, "aws-sigv4", Effect::OtherAuth),
    switch('k', "insecure", Effect::Insecure),
    switch(NONE, "basic", Nothing),
    value('E', "cert", Noted(TLS)),
    value(NONE, "cert-type", Noted(TLS)),
    value(NONE, "key", Noted(TLS)),
    value(NONE, "key-type", Noted(TLS)),
    value(NONE, "pass", Noted(TLS)),
    value(NONE, "cacert", Noted("is not in the script: add the authority to the system's")),
    value(NONE, "capath", Noted("is not in the script: add the authority to the system's")),
    value(NONE, "ciphers", Noted(TLS)),
    value(NONE, "tls13-ciphers", Noted(TLS)),
    value(NONE, "tls-max", Noted(TLS)),
    switch('1', "tlsv1", Noted(TLS)),
    switch(NONE, "tlsv1.0", Noted(TLS)),
    switch(NONE, "tlsv1.1", Noted(TLS)),
    switch(NONE, "tlsv1.2", Noted(TLS)),
    switch(NONE, "tlsv1.3", Noted(TLS)),
    value('x', "proxy", Noted(PROXY)),
    value('U', "proxy-user", Noted(PROXY)),
    value(NONE, "proxy-header", Noted(PROXY)),
    switch(NONE, "proxy-insecure", Noted(PROXY)),
    value(NONE, "socks5", Noted(PROXY)),
    value(NONE, "socks5-hostname", Noted(PROXY)),
    value(NONE, "noproxy", Noted(PROXY)),
    value(NONE, "resolve", Noted(HOSTS)),
    value(NONE, "connect-to", Noted(HOSTS)),
    value(NONE, "unix-socket", Noted("has no counterpart in a script: give the server an address")),
    value(NONE, "interface", Noted("is a flag of the run: --local-ips")),
    value(NONE, "limit-rate", Noted("has no counterpart in a script")),
    value('m', "max-time", Noted(TIMEOUT)),
    value(NONE, "connect-timeout", Noted(TIMEOUT)),
    switch('0', "http1.0", Noted("is not in the script: it speaks HTTP/1.1 and HTTP/2")),
    switch(NONE, "http3", Noted("is not in the script: it speaks HTTP/1.1 and HTTP/2")),
    switch(NONE, "http3-only", Noted("is not in the script: it speaks HTTP/1.1 and HTTP/2")),
    switch(NONE, "http2-prior-knowledge", Noted("is not in the script: it asks TLS for HTTP/2")),
    value('C', "continue-at", Noted("has no effect: write the header Range")),
    value('z', "time-cond", Noted("has no effect: write the header If-Modified-Since")),
    value(NONE, "retry", Noted("has no effect: a script's request is sent once")),
    switch(NONE, "http1.1", Nothing),
    switch(NONE, "http2", Nothing),
    switch('L', "location", Nothing),
    switch(NONE, "location-trusted", Nothing),
    switch(NONE, "post301", Nothing),
    switch(NONE, "post302", Nothing),
    switch(NONE, "post303", Nothing),
    value(NONE, "max-redirs", Nothing),
    switch('s', "silent", Nothing),
    switch('S', "show-error", Nothing),
    switch('f', "fail", Nothing),
    switch(NONE, "fail-with-body", Nothing),
    switch(NONE, "fail-early", Nothing),
    switch('v', "verbose", Nothing),
    switch('i', "include", Nothing),
    switch(NONE, "show-headers", Nothing),
    switch('#', "progress-bar", Nothing),
    switch(NONE, "no-progress-meter", Nothing),
    switch('N', "no-buffer", Nothing),
    switch('O', "remote-name", Nothing),
    switch('J', "remote-header-name", Nothing),
    switch(NONE, "remote-name-all", Nothing),
    switch('R', "remote-time", Nothing),
    switch('Z', "parallel", Nothing),
    value(NONE, "parallel-max", Nothing),
    switch('q', "disable", Nothing),
    switch('4', "ipv4", Nothing),
    switch('6', "ipv6", Nothing),
    switch('a', "append", Nothing),
    switch('n', "netrc", Noted("is not read: write -u")),
    value(NONE, "netrc-file", Noted("is not read: write -u")),
    switch('j', "junk-session-cookies", Nothing),
    switch(NONE, "path-as-is", Nothing),
    switch(NONE, "create-dirs", Nothing),
    switch(NONE, "raw", Nothing),
    switch(NONE, "tr-encoding", Nothing),
    switch(NONE, "tcp-nodelay", Nothing),
    switch(NONE, "tcp-fastopen", Nothing),
    switch(NONE, "no-keepalive", Nothing),
    switch(NONE, "keepalive", Nothing),
    switch(NONE, "retry-connrefused", Nothing),
    switch(NONE, "retry-all-errors", Nothing),
    switch(NONE, "styled-output", Nothing),
    switch(NONE, "no-styled-output", Nothing),
    switch(NONE, "no-location", Nothing),
    switch(NONE, "no-compressed", Nothing),
    switch(NONE, "ssl-reqd", Nothing),
    switch(NONE, "ssl-no-revoke", Nothing),
    switch(NONE, "no-alpn", Nothing),
    switch(NONE, "no-npn", Nothing),
    switch(NONE, "no-sessionid", Nothing),
    value(NONE, "keepalive-time", Nothing),
    value(NONE, "expect100-timeout", Nothing),
    value(NONE, "retry-delay", Nothing),
    value(NONE, "retry-max-time", Nothing),
    value(NONE, "max-filesize", Nothing),
    value('Y', "speed-limit", Nothing),
    value('y', "speed-time", Nothing),
    value('o', "output", Nothing),
    value(NONE, "output-dir", Nothing),
    value('c', "cookie-jar", Nothing),
    value('D', "dump-header", Nothing),
    value('w', "write-out", Nothing),
    value(NONE, "stderr", Nothing),
    value(NONE, "trace", Nothing),
    value(NONE, "trace-ascii", Nothing),
    switch(NONE, "trace-time", Nothing),
    value(NONE, "dns-servers", Nothing),
    value(NONE, "doh-url", Nothing),
    value(NONE, "happy-eyeballs-timeout-ms", Nothing),
    value(NONE, "proto", Nothing),
    value(NONE, "proto-default", Nothing),
    value(NONE, "proto-redir", Nothing),
    value(NONE, "local-port", Nothing),
    value(NONE, "etag-save", Nothing),
    value(NONE, "etag-compare", Nothing),
    value('K', "config", Refused(CONFIG)),
    value(NONE, "variable", Refused("sets a variable of curl; write its value")),
];

/// The flag of a name behind `--`. The short forms of negated switches (`--no-location`) are among them.
pub(super) fn long(name: &str) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.long == name)
}

/// The flag of a letter behind `-`.
pub(super) fn short(letter: char) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.short == letter && letter != NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_there_once() {
        for (index, flag) in FLAGS.iter().enumerate() {
            let is_same = |own: &Flag| {
                own.long == flag.long || (own.short == flag.short && flag.short != NONE)
            };
            assert_eq!(FLAGS.iter().position(is_same), Some(index), "--{}", flag.long);
        }
    }
}
