//! `brunt record`: a proxy that records a browser's session, and the script that comes of it.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brunt_recorder::{Authority, Config, Error, Limits, Recorder, Upstream};
use brunt_traffic::Recording;
use brunt_traffic::filter::{Filter, HostPattern, PatternError, UrlPattern};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use tempfile::TempDir;
use url::Url;

use self::browser::{Browser, Wanted};
use self::lines::Lines;
use self::outputs::{HarFile, Out};
use super::{switch, value};
use crate::print::print;
use crate::session::{self, Wish};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

mod authority;
mod browser;
mod lines;
mod outputs;
mod steps;

/// Where browsers expect a proxy of this kind.
const ADDRESS: &str = "127.0.0.1:8000";

/// Threads of the proxy. More of them wake each other, which takes longer than the work.
const WORKERS: usize = 2;

/// The folder of the script, unless told otherwise.
const OUT: &str = "recorded";

const EXAMPLES: &str = "Examples:
  brunt record --browser chromium https://shop.test/
  brunt record --out checkout --har checkout.har
  brunt record --only shop.test --only api.shop.test
  brunt record ca --export brunt-ca.pem";

const AFTER: &str = "While it records, a line typed here begins a step with that name, a group() of the script. Ctrl-C ends the recording, and so \
                     does closing the browser; a second Ctrl-C leaves at once, without a script.\n\n\
                     `brunt record ca` prints the recorder's certificate authority and says how browsers learn to trust it.";

/// The arguments of `brunt record`.
#[derive(Debug)]
pub(crate) enum Request {
    /// Records.
    Session(Box<Session>),
    /// `brunt record ca`.
    Authority { folder: Option<PathBuf>, export: Option<PathBuf> },
}

/// A session to record.
#[derive(Debug)]
pub(crate) struct Session {
    address: SocketAddr,
    authority: Option<PathBuf>,
    upstream: Upstream,
    pass: Vec<String>,
    filter: Filter,
    wish: Wish,
    har: Option<PathBuf>,
    browser: Option<Wanted>,
    start: Option<Url>,
}

pub(super) fn command() -> Command {
    let many = |arg: Arg| arg.action(ArgAction::Append);
    Command::new("record")
        .about("Record a browser's session as a script")
        .override_usage(
            "brunt record [OPTIONS] [URL]\n       brunt record ca [--ca-dir DIR] [--export FILE]",
        )
        .before_help(EXAMPLES)
        .after_help(AFTER)
        .arg(Arg::new("url").value_name("URL").help("Open this page in the browser"))
        .arg(value("proxy", "ADDRESS", "Listen here for browsers [default: 127.0.0.1:8000]"))
        .arg(
            Arg::new("browser")
                .long("browser")
                .value_name("NAME|PATH")
                .num_args(0..=1)
                .default_missing_value("")
                .help(
                    "Start chromium, chrome, firefox or this program, with a fresh profile that uses the recorder and trusts it",
                ),
        )
        .arg(value("out", "DIR", "Write the script into this folder [default: recorded]"))
        .arg(switch("force", "Overwrite a script that is in the folder already"))
        .arg(value("har", "FILE", "Keep the whole session as a HAR file, too; it has every password and cookie"))
        .arg(many(value(
            "only",
            "HOST",
            "Keep requests to this host alone: HOST, *.HOST or HOST:PORT; repeat it for more",
        )))
        .arg(many(value(
            "allow",
            "REGEX",
            "Keep URLs alone that this expression matches as a whole; repeat it for more",
        )))
        .arg(many(value(
            "deny",
            "REGEX",
            "Leave out URLs that this expression matches as a whole, before --allow is asked",
        )))
        .arg(switch(
            "keep-noise",
            "Keep requests that the browser made for itself, and those to trackers",
        ))
        .arg(value(
            "pause-threshold",
            "DURATION",
            "Make no pause of gaps that are shorter [default: 100ms]",
        ))
        .arg(switch("no-resources", "Leave pictures, styles, scripts and fonts out of the script"))
        .arg(switch("no-replay", "Do not run the script to prove it"))
        .arg(many(value("pass", "HOST", "Pass TLS of this host on, unrecorded: HOST or *.HOST")))
        .arg(value("ca-dir", "DIR", "Keep the recorder's certificate authority here"))
        .arg(value("export", "FILE", "With `ca`: write the certificate there, in DER if the name ends in .crt, .cer or .der"))
        .arg(value("upstream-proxy", "URL", "Reach servers through this HTTP proxy: http://USER:PASSWORD@HOST:PORT"))
        .arg(many(value("upstream-ca", "FILE", "Believe servers whose certificates come from this authority, too (PEM)")))
        .arg(value("upstream-cert", "FILE", "Show servers this client certificate (PEM)"))
        .arg(value("upstream-key", "FILE", "The key of the client certificate (PEM)"))
        .arg(switch("insecure-skip-tls-verify", "Believe every server's certificate"))
}

impl Request {
    pub(super) fn read(matches: &ArgMatches) -> Outcome<Self> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let path = |name: &str| text(name).map(PathBuf::from);
        let many = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned();
        let url = text("url");
        if url.as_deref() == Some("ca") {
            if let Some(name) = stray(matches) {
                return Err(Failure::usage(format!("--{name} means nothing to `brunt record ca`"))
                    .hint("it takes --ca-dir DIR and --export FILE"));
            }
            return Ok(Self::Authority { folder: path("ca-dir"), export: path("export") });
        }
        if text("export").is_some() {
            return Err(Failure::usage("--export belongs to `brunt record ca`"));
        }
        // `--browser URL`: the browser is any, and the URL is where it starts.
        let named = text("browser");
        let (browser, url) = match named {
            Some(word) if word.contains("://") && url.is_none() => {
                (Some(String::new()), Some(word))
            }
            named => (named, url),
        };
        let identity = match (path("upstream-cert"), path("upstream-key")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            (Some(_), None) => {
                return Err(Failure::usage("--upstream-cert wants its key: --upstream-key FILE"));
            }
            (None, Some(_)) => {
                return Err(Failure::usage(
                    "--upstream-key wants its certificate: --upstream-cert FILE",
                ));
            }
        };
        let upstream = Upstream {
            proxy: text("upstream-proxy").map(|text| upstream_proxy(&text)).transpose()?,
            authorities: many("upstream-ca").map(PathBuf::from).collect(),
            identity,
            insecure: matches.get_flag("insecure-skip-tls-verify"),
        };
        Ok(Self::Session(Box::new(Session {
            address: address(text("proxy").as_deref().unwrap_or(ADDRESS))?,
            authority: path("ca-dir"),
            upstream,
            pass: many("pass").map(|text| passed(&text)).collect::<Outcome<_>>()?,
            filter: filter(matches)?,
            wish: Wish {
                out: path("out").unwrap_or_else(|| PathBuf::from(OUT)),
                force: matches.get_flag("force"),
                replay: !matches.get_flag("no-replay"),
                scribe: scribe(matches)?,
            },
            har: path("har"),
            browser: browser.map(|word| Wanted::of(&word)),
            start: url.map(|text| start(&text)).transpose()?,
        })))
    }
}

/// A flag of a session beside `ca`.
fn stray(matches: &ArgMatches) -> Option<&str> {
    let is_given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let all = command();
    let own = all.get_arguments().map(|arg| arg.get_id().as_str());
    let stray = own.filter(|name| !matches!(*name, "url" | "ca-dir" | "export"));
    let stray: Vec<&str> = stray.filter(|name| is_given(name)).collect();
    matches.ids().map(clap::Id::as_str).find(|name| stray.contains(name))
}

/// `HOST` or `*.HOST`. Anything else would match no host, and be silent about it.
fn passed(text: &str) -> Outcome<String> {
    let host = text.trim_matches(['[', ']']);
    let bare = host.strip_prefix("*.").unwrap_or(host);
    let is_host = match bare.parse::<IpAddr>() {
        Ok(_) => bare == host,
        Err(_) => url::Host::parse(bare).is_ok() && !bare.contains([':', '*']),
    };
    if is_host {
        return Ok(host.to_owned());
    }
    Err(Failure::usage(format!("invalid value \"{text}\" for --pass: expected HOST or *.HOST"))
        .hint("all ports of the host are passed on"))
}

/// The requests that become the script, as `brunt convert` has it.
fn filter(matches: &ArgMatches) -> Outcome<Filter> {
    let many = |name: &str| matches.get_many::<String>(name).into_iter().flatten();
    let wrong = |error: PatternError| Failure::usage(error);
    let hosts = many("only").map(|text| text.parse::<HostPattern>().map_err(wrong));
    let urls = |name: &str| {
        let all = many(name).map(|text| text.parse::<UrlPattern>().map_err(wrong));
        all.collect::<Outcome<Vec<_>>>()
    };
    Ok(Filter {
        only: hosts.collect::<Outcome<_>>()?,
        allow: urls("allow")?,
        deny: urls("deny")?,
        noise: matches.get_flag("keep-noise"),
        ..Filter::default()
    })
}

fn scribe(matches: &ArgMatches) -> Outcome<brunt_scribe::Options> {
    let mut options = brunt_scribe::Options {
        // A script has no option for an authority: SSL_CERT_FILE does that for its process.
        skip_tls_verify: matches.get_flag("insecure-skip-tls-verify")
            || matches.contains_id("upstream-ca"),
        ..brunt_scribe::Options::default()
    };
    if matches.get_flag("no-resources") {
        options.resources = brunt_scribe::Resources::LeftOut;
    }
    if let Some(text) = matches.get_one::<String>("pause-threshold") {
        options.shortest_pause = brunt_duration::wait::parse_millis(text).map_err(|error| {
            Failure::usage(format!("invalid value \"{text}\" for --pause-threshold: {error}"))
                .hint("write a duration such as 100ms or 2s")
        })?;
    }
    Ok(options)
}

/// `HOST:PORT`, `:PORT` or `PORT`.
fn address(text: &str) -> Outcome<SocketAddr> {
    let whole = match text.parse::<u16>() {
        Ok(port) => format!("127.0.0.1:{port}"),
        Err(_) if text.starts_with(':') => format!("0.0.0.0{text}"),
        Err(_) => text.to_owned(),
    };
    let found = whole.to_socket_addrs().ok().and_then(|mut all| all.next());
    found.ok_or_else(|| {
        Failure::usage(format!("invalid value \"{text}\" for --proxy: expected HOST:PORT"))
    })
}

/// The value may hold a password: no message repeats it.
fn upstream_proxy(text: &str) -> Outcome<Url> {
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    Url::parse(&whole).map_err(|error| {
        Failure::usage(format!(
            "invalid value for --upstream-proxy: {error}; expected http://USER:PASSWORD@HOST:PORT"
        ))
    })
}

/// A page to begin with; `shop.test/a` means http.
fn start(text: &str) -> Outcome<Url> {
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&whole).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.filter(Url::has_host).ok_or_else(|| {
        Failure::usage(format!(
            "\"{text}\" is no page to begin with: expected http://… or https://…"
        ))
    })
}

/// The folder of the authority: the flag's, or the user's own.
fn authority_folder(context: &Context, flag: Option<&Path>) -> Outcome<PathBuf> {
    if let Some(folder) = flag {
        return Ok(folder.to_owned());
    }
    let of = |name: &str| {
        context
            .environment
            .get(name)
            .filter(|value| Path::new(value).is_absolute())
            .map(PathBuf::from)
    };
    let data = of("XDG_DATA_HOME").or_else(|| Some(of("HOME")?.join(".local/share")));
    data.map(|data| data.join("brunt").join("ca")).ok_or_else(|| {
        Failure::usage("there is no home folder to keep the recorder's certificate authority in")
            .hint("name a folder with --ca-dir DIR")
    })
}

pub(super) fn perform(context: &Context, request: Request) -> Outcome<Exit> {
    match request {
        Request::Authority { folder, export } => {
            let folder = authority_folder(context, folder.as_deref())?;
            authority::perform(context, &folder, export.as_deref())
        }
        Request::Session(session) => record(context, &session),
    }
}

fn record(context: &Context, session: &Session) -> Outcome<Exit> {
    let program = session.browser.as_ref().map(|wanted| wanted.find(&context.environment));
    let program = program.transpose()?;
    let out = Out::claim(&session.wish)?;
    let har = session.har.as_deref().map(HarFile::open).transpose()?;
    let folder = authority_folder(context, session.authority.as_deref())?;
    let authority = Arc::new(Authority::open(&folder).map_err(failure)?);
    // Bodies, and the profile of a browser: all that must be gone in the end.
    let things = secret_folder()?;
    let mut recording = {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .enable_all()
            .build()?;
        let begun = Begun { context, session, authority, things: things.path(), made: out.made() };
        let recording = runtime.block_on(begun.run(program))?;
        if let (Some(har), false) = (har, recording.exchanges.is_empty()) {
            har.write(&recording)?;
        }
        // From here on, signals are for the replay.
        runtime.shutdown_background();
        recording
    };
    if recording.exchanges.is_empty() {
        return Err(Failure::usage("nothing was recorded: no request came").hint(
            "set the recorder as the proxy of your browser, for HTTP and HTTPS, or let --browser do it",
        ));
    }
    let is_unanswered = recording.exchanges.iter().all(|exchange| exchange.response.is_none());
    session.filter.apply(&mut recording);
    for (why, count) in &recording.left_out {
        log::info!("left out: {count} {why}");
    }
    if recording.exchanges.is_empty() {
        return Err(Failure::usage("nothing is left of the recording for a script").hint(
            if is_unanswered {
                "no request got a response: the lines above say why"
            } else {
                "see --only, --allow, --deny and --keep-noise"
            },
        ));
    }
    if session.upstream.identity.is_some() {
        log::warn!(hint = "name it in the option tlsAuth"; "the script has no client certificate: the recording had one");
    }
    if session.upstream.proxy.is_some() {
        log::warn!(hint = "set HTTP_PROXY and HTTPS_PROXY for it"; "the script knows nothing of the upstream proxy");
    }
    let exit = session::finish(context, &recording, &session.wish)?;
    out.keep();
    Ok(exit)
}

/// For its owner's eyes alone: bodies hold passwords, and a profile holds cookies.
fn secret_folder() -> std::io::Result<TempDir> {
    use std::os::unix::fs::PermissionsExt;
    let mode = PermissionsExt::from_mode(0o700);
    tempfile::Builder::new().prefix("brunt-record-").permissions(mode).tempdir()
}

/// A recorder's error, with what to try.
fn failure(error: Error) -> Failure {
    let hint = match &error {
        Error::Bind { source, .. } if source.kind() == std::io::ErrorKind::AddrInUse => {
            Some("another program listens there; choose another port with --proxy HOST:PORT")
        }
        Error::Bind { .. } => Some("choose an address of this machine with --proxy HOST:PORT"),
        Error::Folder { .. } => Some("choose another folder with --ca-dir DIR"),
        _ => None,
    };
    let failure = Failure::new(Exit::Other, error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// A recording about to begin.
struct Begun<'a> {
    context: &'a Context,
    session: &'a Session,
    authority: Arc<Authority>,
    things: &'a Path,
    /// The folder of the script, if it is new.
    made: Option<PathBuf>,
}

impl Begun<'_> {
    /// Records until a signal comes or the browser closes.
    async fn run(self, program: Option<browser::Program>) -> Outcome<Recording> {
        // Before the proxy: a signal from here on is ours.
        let mut signals = crate::run::signal::Signals::new()?;
        let [bodies, profile] = ["bodies", "profile"].map(|name| self.things.join(name));
        std::fs::create_dir(&bodies)?;
        let config = Config {
            address: self.session.address,
            authority: Arc::clone(&self.authority),
            upstream: self.session.upstream.clone(),
            pass: self.session.pass.clone(),
            folder: bodies,
            limits: Limits::default(),
        };
        let recorder = Recorder::bind(config).await.map_err(failure)?;
        let address = recorder.address();
        let lines = Lines::start(self.context, &self.session.filter);
        print(self.context, &format!("recorder: http://{address}\n"))?;
        self.greet(&lines, address);
        let mut browser = match program {
            None => None,
            Some(program) => {
                let start = self.session.start.as_ref();
                let started = Browser::start(&program, &profile, address, &self.authority, start)?;
                if let Some(notice) = started.notice() {
                    lines.say(notice);
                }
                Some(started)
            }
        };
        steps::listen(recorder.marker(), lines.clone());
        let things = self.things.to_owned();
        let made = self.made;
        let group = browser.as_ref().map(Browser::group);
        let (end, ended) = tokio::sync::oneshot::channel();
        tokio::spawn(async move {
            signals.next().await;
            let _ = end.send(());
            signals.next().await;
            // The second one: there will be no script, and nothing else of ours may stay.
            if let Some(group) = group {
                group.kill();
            }
            let _ = std::fs::remove_dir_all(things);
            if let Some(folder) = made {
                let _ = std::fs::remove_dir(folder);
            }
            std::process::exit(i32::from(Exit::Signal.code()));
        });
        let told = lines.clone();
        let mut closed = None;
        let stop = async {
            tokio::select! {
                _ = ended => {}
                how = browser::closed(browser.as_mut()) => closed = Some(how),
            }
        };
        let recording = recorder.run(stop, move |line| told.line(line)).await;
        if let Some(browser) = browser {
            browser.end().await;
        }
        lines.finish(&recording);
        match closed {
            Some(how) if recording.exchanges.is_empty() => Err(Failure::usage(format!(
                "nothing was recorded: the browser ended before it asked for a page ({how})"
            ))
            .hint("does it start without brunt record? It needs a display, and a profile that it can write")),
            _ => Ok(recording),
        }
    }

    fn greet(&self, lines: &Lines, address: SocketAddr) {
        if self.authority.is_new() {
            let file = self.authority.certificate_file();
            lines.say(&format!(
                "a certificate authority was made for this user: {}",
                file.display()
            ));
        }
        if !address.ip().is_loopback() {
            lines
                .say(&format!("everyone who reaches {address} can use this proxy and is recorded"));
        }
        if self.session.upstream.insecure {
            lines.say("certificates of servers are not verified");
        }
        if self.session.browser.is_none() {
            let then = match &self.session.start {
                Some(url) => format!(", then open {url}"),
                None => String::new(),
            };
            lines.say(&format!(
                "set {address} as your browser's proxy for HTTP and HTTPS{then}; for HTTPS it must trust the recorder: \
                 http://brunt.record/ or `brunt record ca`"
            ));
        }
        lines.say("type a name and Enter to begin a step; Ctrl-C ends the recording");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Outcome<Request> {
        Request::read(&command().no_binary_name(true).get_matches_from(line.split_whitespace()))
    }

    fn session(line: &str) -> Session {
        match read(line).unwrap() {
            Request::Session(session) => *session,
            other @ Request::Authority { .. } => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_bare_call_listens_on_loopback_and_verifies() {
        let session = session("");
        assert_eq!(session.address.to_string(), ADDRESS);
        assert!(!session.upstream.insecure && !session.wish.scribe.skip_tls_verify);
        assert!(session.wish.replay && !session.filter.noise);
        assert_eq!(session.wish.out, Path::new(OUT));
    }

    #[test]
    fn addresses_may_be_short() {
        for (text, expected) in
            [("9000", "127.0.0.1:9000"), (":9000", "0.0.0.0:9000"), ("[::1]:0", "[::1]:0")]
        {
            assert_eq!(address(text).unwrap().to_string(), expected);
        }
        assert!(address("nowhere").unwrap_err().message().contains("\"nowhere\" for --proxy"));
    }

    #[test]
    fn a_browser_may_be_named_and_a_page_too() {
        assert!(session("").browser.is_none());
        assert_eq!(session("--browser").browser, Some(Wanted::Any));
        assert_eq!(session("--browser firefox").browser, Some(Wanted::Firefox));
        let started = session("--browser https://shop.test/");
        assert_eq!(started.browser, Some(Wanted::Any));
        assert_eq!(started.start.unwrap().as_str(), "https://shop.test/");
        let started = session("--browser chrome shop.test/a");
        assert_eq!(started.browser, Some(Wanted::Chrome));
        assert_eq!(started.start.unwrap().as_str(), "http://shop.test/a");
        assert!(read("ftp://a.test/").unwrap_err().message().contains("no page"));
    }

    #[test]
    fn a_password_of_the_upstream_proxy_is_in_no_message() {
        let error = read("--upstream-proxy http://me:sesame@[").unwrap_err();
        assert!(!error.message().contains("sesame"), "{}", error.message());
        let proxy = session("--upstream-proxy me:sesame@proxy.test:3128").upstream.proxy.unwrap();
        assert_eq!((proxy.scheme(), proxy.port()), ("http", Some(3128)));
    }

    #[test]
    fn certificate_and_key_go_together() {
        assert!(read("--upstream-cert a.pem").unwrap_err().message().contains("--upstream-key"));
        assert!(read("--upstream-key a.pem").unwrap_err().message().contains("--upstream-cert"));
        assert!(read("--export a.pem").unwrap_err().message().contains("record ca"));
    }

    #[test]
    fn bodies_and_profiles_are_the_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = secret_folder().unwrap();
        let mode = std::fs::metadata(folder.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn flags_of_a_session_are_refused_beside_ca() {
        assert!(read("ca --ca-dir a --export b").is_ok());
        for flag in ["--proxy 9000", "--insecure-skip-tls-verify", "--only a.test"] {
            let failure = read(&format!("ca {flag}")).unwrap_err();
            assert!(failure.message().contains("record ca"), "{}", failure.message());
        }
    }

    #[test]
    fn a_host_to_pass_is_a_name_or_an_address() {
        let hosts = session("--pass a.test --pass *.a.test --pass 10.0.0.1 --pass [::1]").pass;
        assert_eq!(hosts, ["a.test", "*.a.test", "10.0.0.1", "::1"]);
        for wrong in ["a.test:443", "https://a.test", "a.*", "*", "a.test/b"] {
            let failure = read(&format!("--pass {wrong}")).unwrap_err();
            assert!(failure.message().contains(wrong), "{}", failure.message());
        }
    }
}
