//! A browser of this machine, started with a fresh profile that goes through the recorder and trusts it.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use brunt_recorder::Authority;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use url::Url;

use crate::{
    environment::Environment,
    exit::Exit,
    failure::{Failure, Outcome},
};

/// How often we look whether the browser is still there.
const LOOK: Duration = Duration::from_millis(200);

/// A browser that has not closed by then is killed.
const GRACE: Duration = Duration::from_secs(5);

/// Names of programs, the usual one first.
const CHROMIUM: [&str; 2] = ["chromium", "chromium-browser"];
const CHROME: [&str; 4] = [
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const FIREFOX: [&str; 3] =
    ["firefox", "firefox-esr", "/Applications/Firefox.app/Contents/MacOS/firefox"];

/// The browser that the user asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Any,
    Chromium,
    Chrome,
    Firefox,
    Path(PathBuf),
}

/// A browser that is there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program {
    path: PathBuf,
    is_firefox: bool,
}

impl Wanted {
    pub(super) fn of(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "" | "any" => Self::Any,
            "chromium" => Self::Chromium,
            "chrome" => Self::Chrome,
            "firefox" => Self::Firefox,
            _ => Self::Path(PathBuf::from(word)),
        }
    }

    /// Looks for it.
    ///
    /// # Errors
    /// It is not there: the failure lists where we looked.
    pub(super) fn find(&self, environment: &Environment) -> Outcome<Program> {
        let (chromium, chrome, firefox) = (&CHROMIUM[..], &CHROME[..], &FIREFOX[..]);
        let names: Vec<&str> = match self {
            Self::Any => [chromium, chrome, firefox].concat(),
            Self::Chromium => chromium.to_vec(),
            Self::Chrome => chrome.to_vec(),
            Self::Firefox => firefox.to_vec(),
            Self::Path(path) => vec![path.to_str().unwrap_or_default()],
        };
        let folders = environment.get("PATH").unwrap_or_default();
        let found = names.iter().find_map(|name| in_folders(name, folders));
        let path = found.ok_or_else(|| {
            let message = match self {
                Self::Any => "no browser was found".to_owned(),
                Self::Path(path) => format!("the browser \"{}\" was not found", path.display()),
                named => format!("the browser {} was not found", format!("{named:?}").to_lowercase()),
            };
            Failure::usage(format!("{message}; looked for: {}", names.join(", "))).hint(
                "install one, name its program with --browser PATH, or start brunt record without --browser and set the proxy by hand",
            )
        })?;
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_firefox = name.to_ascii_lowercase().contains("firefox");
        Ok(Program { path, is_firefox })
    }
}

/// A program by its path, or by its name in the folders of `PATH`.
fn in_folders(name: &str, folders: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let is_program = |path: &Path| {
        let metadata = std::fs::metadata(path);
        metadata.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| is_program(path));
    }
    std::env::split_paths(folders).map(|folder| folder.join(name)).find(|path| is_program(path))
}

/// A browser that runs. Dropped, it is killed.
#[derive(Debug)]
pub(super) struct Browser {
    child: Child,
    notice: Option<String>,
}

/// Chromium's other processes, too, and whatever a script in its place has started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group(Pid);

impl Group {
    /// Ends all of them at once.
    pub(super) fn kill(self) {
        self.signal(Signal::SIGKILL);
    }

    fn signal(self, signal: Signal) {
        // They may be gone already.
        let _ = kill(self.0, signal);
    }
}

impl Browser {
    /// Starts it with a new profile in this folder, which it may keep until it is closed.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(super) fn start(
        program: &Program,
        profile: &Path,
        proxy: SocketAddr,
        authority: &Authority,
        start: Option<&Url>,
    ) -> Outcome<Self> {
        std::fs::create_dir(profile)?;
        let proxy = reachable(proxy);
        let mut command = Command::new(&program.path);
        let notice = if program.is_firefox {
            of_firefox(&mut command, profile, proxy, authority)?
        } else {
            of_chromium(&mut command, profile, proxy, authority);
            None
        };
        if let Some(url) = start {
            command.arg(url.as_str());
        } else if program.is_firefox && notice.is_some() {
            command.arg("http://brunt.record/");
        }
        // Its own group: Ctrl-C in the terminal is for us, and we close it.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| {
            let message = format!("cannot start the browser \"{}\"", program.path.display());
            Failure::new(Exit::Other, anyhow::Error::new(error).context(message))
        })?;
        Ok(Self { child, notice })
    }

    /// Something that the user must still do.
    pub(super) fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Its processes.
    pub(super) fn group(&self) -> Group {
        Group(Pid::from_raw(-(self.child.id() as i32)))
    }

    fn is_closed(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    fn signal(&self, signal: Signal) {
        self.group().signal(signal);
    }

    /// Closes it, in good order if it can.
    pub(super) async fn end(mut self) {
        if self.is_closed() {
            return;
        }
        self.signal(Signal::SIGTERM);
        let wait = async {
            while !self.is_closed() {
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(GRACE, wait).await;
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.is_closed() {
            self.signal(Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

/// Waits until the browser is closed, and says how it ended; forever, if there is none.
pub(super) async fn closed(browser: Option<&mut Browser>) -> String {
    let Some(browser) = browser else { return std::future::pending().await };
    loop {
        match browser.child.try_wait() {
            Ok(None) => tokio::time::sleep(LOOK).await,
            Ok(Some(status)) => return status.to_string(),
            Err(error) => return error.to_string(),
        }
    }
}

/// The address for a browser of this machine.
fn reachable(proxy: SocketAddr) -> SocketAddr {
    let ip = match proxy.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, proxy.port())
}

fn of_chromium(command: &mut Command, profile: &Path, proxy: SocketAddr, authority: &Authority) {
    let arg = |name: &str, value: &dyn std::fmt::Display| format!("--{name}={value}");
    command
        .arg(arg("user-data-dir", &profile.display()))
        .arg(arg("proxy-server", &format_args!("http://{proxy}")))
        // Loopback, too: Chromium leaves it out otherwise.
        .arg(arg("proxy-bypass-list", &"<-loopback>"))
        .arg(arg("ignore-certificate-errors-spki-list", &authority.key_pin()))
        .args([
            "--no-first-run",
            "--no-default-browser-check",
            // HTTP/3 knows no proxy of this kind.
            "--disable-quic",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-default-apps",
            "--disable-sync",
            "--disable-features=OptimizationHints,MediaRouter,Translate,HttpsUpgrades",
            "--password-store=basic",
            "--use-mock-keychain",
            // No bar that calls the list of certificates dangerous: the profile lives as long as the recording.
            "--test-type",
        ]);
    if nix::unistd::geteuid().is_root() {
        // Chromium's sandbox refuses root.
        command.arg("--no-sandbox");
    }
}

fn of_firefox(
    command: &mut Command,
    profile: &Path,
    proxy: SocketAddr,
    authority: &Authority,
) -> Outcome<Option<String>> {
    std::fs::write(profile.join("user.js"), preferences(proxy))?;
    command.args(["-new-instance", "-no-remote", "-profile"]).arg(profile);
    if trusts_in_firefox(profile, authority) {
        return Ok(None);
    }
    Ok(Some(
        "Firefox learns to trust the recorder by certutil, which is not installed (libnss3-tools, nss-tools): import the certificate from \
         http://brunt.record/ in the browser, for websites"
            .to_owned(),
    ))
}

/// Puts the certificate into the profile's own store.
fn trusts_in_firefox(profile: &Path, authority: &Authority) -> bool {
    let store = format!("sql:{}", profile.display());
    let certutil = |arguments: &[&str]| {
        let mut command = Command::new("certutil");
        command.args(["-d", &store]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    // A copy, as the authority's folder may be one that cannot be written.
    let file = profile.join("brunt-record-ca.pem");
    std::fs::write(&file, authority.pem()).is_ok()
        && certutil(&["-N", "--empty-password"])
        && certutil(&["-A", "-n", "brunt record", "-t", "C,,", "-i", &file.to_string_lossy()])
}

/// Firefox's settings: the proxy, and silence in the background.
fn preferences(proxy: SocketAddr) -> String {
    let host = format!("\"{}\"", proxy.ip());
    let port = proxy.port().to_string();
    let settings: [(&str, &str); 22] = [
        ("network.proxy.type", "1"),
        ("network.proxy.http", &host),
        ("network.proxy.http_port", &port),
        ("network.proxy.ssl", &host),
        ("network.proxy.ssl_port", &port),
        ("network.proxy.no_proxies_on", "\"\""),
        // Loopback, too: Firefox leaves it out otherwise.
        ("network.proxy.allow_hijacking_localhost", "true"),
        ("network.http.http3.enable", "false"),
        ("network.captive-portal-service.enabled", "false"),
        ("network.connectivity-service.enabled", "false"),
        ("network.prefetch-next", "false"),
        ("dom.security.https_first", "false"),
        ("app.update.enabled", "false"),
        ("app.normandy.enabled", "false"),
        ("datareporting.policy.dataSubmissionEnabled", "false"),
        ("toolkit.telemetry.enabled", "false"),
        ("browser.safebrowsing.malware.enabled", "false"),
        ("browser.safebrowsing.phishing.enabled", "false"),
        ("browser.shell.checkDefaultBrowser", "false"),
        ("browser.aboutwelcome.enabled", "false"),
        ("browser.startup.homepage", "\"about:blank\""),
        ("extensions.update.enabled", "false"),
    ];
    let mut text = String::new();
    for (name, value) in settings {
        // Writing to a String can't fail.
        let _ = writeln!(text, "user_pref(\"{name}\", {value});");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_that_is_not_there_is_told_with_all_names() {
        let empty = Environment::default();
        let failure = Wanted::Any.find(&empty).unwrap_err();
        assert!(failure.message().contains("chromium-browser"), "{}", failure.message());
        assert!(failure.message().contains("firefox-esr"));
        let failure = Wanted::of("/no/such/browser").find(&empty).unwrap_err();
        assert!(failure.message().contains("/no/such/browser"));
        let failure = Wanted::Firefox.find(&empty).unwrap_err();
        assert!(failure.message().starts_with("the browser firefox was not found"));
    }

    #[test]
    fn a_browser_is_found_in_the_folders_of_path() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("firefox-esr");
        std::fs::write(&path, "").unwrap();
        let environment: Environment =
            [("PATH".to_owned(), folder.path().to_string_lossy().into_owned())]
                .into_iter()
                .collect();
        assert!(Wanted::Any.find(&environment).is_err(), "it is no program yet");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        let program = Wanted::Any.find(&environment).unwrap();
        assert_eq!(program, Program { path, is_firefox: true });
    }

    #[test]
    fn the_proxy_is_one_that_a_browser_here_can_reach() {
        assert_eq!(reachable("0.0.0.0:8000".parse().unwrap()).to_string(), "127.0.0.1:8000");
        assert!(preferences("127.0.0.1:8000".parse().unwrap()).contains(
            "user_pref(\"network.proxy.ssl\", \"127.0.0.1\");\nuser_pref(\"network.proxy.ssl_port\", 8000);"
        ));
    }
}
