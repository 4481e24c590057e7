//! Modules from `https://` addresses: fetched when a script is loaded, and kept in a folder for a day.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use brunt_http::{
    Client, Headers, Network, Request, Settings, Target, clock, resolve as resolve_location,
};
use brunt_net::Proxies;
use brunt_script::{Disk, Files, MAX_FILE};

/// How long fetching one module may take, redirects included; as in k6.
const PATIENCE: Duration = Duration::from_mins(1);

/// Redirects of one module; as in Go.
const REDIRECTS_MAX: usize = 10;

/// For so long a module is not asked for again. After it, what was kept serves only if the address can't be reached.
const FRESH: Duration = Duration::from_hours(24);

/// The disk, and what remote modules need.
#[derive(Debug)]
pub(crate) struct Remote {
    allowed: bool,
    /// Where fetched modules are kept; none if there is no home.
    cache: Option<PathBuf>,
    /// Proxies of the environment, or the variable that is wrong: told when a module is to be fetched.
    proxies: Result<Proxies, String>,
}

impl Remote {
    /// Fetches nothing unless `allowed`.
    pub(crate) fn new(allowed: bool) -> Self {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let base = variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".cache")));
        Self {
            allowed,
            cache: base.map(|base| base.join("brunt").join("modules")),
            proxies: Proxies::from_env(variable).map_err(|error| error.to_string()),
        }
    }

    /// Where a module is kept: its address can be read from the name. Longer names than file systems take are not kept.
    fn place(&self, url: &str) -> Option<PathBuf> {
        let mut name = String::new();
        for byte in url.strip_prefix("https://")?.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
                    name.push(byte as char);
                }
                _ => {
                    // A string takes all that is written.
                    let _ = write!(name, "%{byte:02X}");
                }
            }
        }
        (name.len() <= 200).then(|| self.cache.as_ref().map(|cache| cache.join(name)))?
    }

    fn kept(place: &Path) -> Option<(Vec<u8>, bool)> {
        let age = SystemTime::now().duration_since(std::fs::metadata(place).ok()?.modified().ok()?);
        let text = Disk.read(place).ok()?;
        Some((text, age.is_ok_and(|age| age < FRESH)))
    }

    /// Keeps a module. That it can't be kept is no fault: it is fetched again next time.
    fn keep(place: &Path, text: &[u8]) {
        let written = place.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| {
            let part = place.with_extension(format!("{}.part", std::process::id()));
            std::fs::write(&part, text)?;
            std::fs::rename(&part, place)
        });
        if let Err(error) = written {
            log::debug!(error = error.to_string().as_str(); "A remote module can't be kept");
        }
    }

    fn download(&self, url: &str) -> Result<Vec<u8>, String> {
        // `_k6=1` lets servers tell load tests from browsers; those that stumble over it are asked without it.
        let marked = if url.contains('?') { None } else { Some(format!("{url}?_k6=1")) };
        if let Some(Ok(text)) = marked.map(|marked| self.get(&marked)) {
            return Ok(text);
        }
        self.get(url)
    }

    fn get(&self, url: &str) -> Result<Vec<u8>, String> {
        let url = url.to_owned();
        let mut settings = Settings { body_limit: MAX_FILE, ..Settings::default() };
        settings.net.proxies = self.proxies.clone()?;
        // A thread of its own: whoever loads scripts may be inside of a runtime.
        std::thread::scope(|scope| {
            let fetching = scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .map_err(|error| error.to_string())?;
                tokio::task::LocalSet::new().block_on(&runtime, follow(&url, settings))
            });
            fetching
                .join()
                .unwrap_or_else(|_| Err("fetching it failed: a fault in Brunt".to_owned()))
        })
    }
}

impl Files for Remote {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        Disk.read(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        Disk.is_file(path)
    }

    fn look_alike(&self, path: &Path) -> Option<PathBuf> {
        /// The maximum number of entries of a folder that are looked at.
        const ENTRIES_MOST: usize = 2000;
        let wanted = path.file_name()?.to_str()?;
        // `.` for a path without a folder.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
        let names = entries.take(ENTRIES_MOST).filter_map(|entry| {
            let entry = entry.ok().filter(|entry| entry.path().is_file())?;
            entry.file_name().into_string().ok()
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        let ending = |name: &str| {
            let ending = Path::new(name).extension();
            ending.map(|ending| ending.to_string_lossy().to_lowercase())
        };
        let same_kind = |name: &&str| ending(name) == ending(wanted);
        let same_kind = names.iter().map(String::as_str).filter(same_kind);
        let meant = brunt_spelling::nearest(wanted, same_kind)?;
        Some(path.with_file_name(meant))
    }

    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        if !self.allowed {
            return Err(format!("\"{url}\" is remote, and remote modules are forbidden"));
        }
        let place = self.place(url);
        let kept = place.as_deref().and_then(Self::kept);
        if let Some((text, true)) = kept {
            return Ok(text);
        }
        match self.download(url) {
            Ok(text) => {
                if let Some(place) = &place {
                    Self::keep(place, &text);
                }
                Ok(text)
            }
            Err(problem) => match kept {
                Some((text, _)) => {
                    log::warn!(error = problem.as_str(), url; "A remote module can't be fetched, its old copy is used");
                    Ok(text)
                }
                None => Err(format!("\"{url}\" can't be fetched: {problem}")),
            },
        }
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Disk.current_dir()
    }
}

/// The body at the end of all redirects.
async fn follow(url: &str, settings: Settings) -> Result<Vec<u8>, String> {
    let network = Network::new(settings, clock::now).map_err(|error| error.to_string())?;
    let client = Client::new(network, None);
    let deadline = client.network().now() + PATIENCE.as_nanos() as u64;
    let mut headers = Headers::new();
    let named = headers.append("User-Agent", concat!("brunt/", env!("CARGO_PKG_VERSION")));
    named.map_err(|error| error.to_string())?;
    let mut at = url.to_owned();
    for _ in 0..=REDIRECTS_MAX {
        let target = Target::parse(&at).map_err(|_| format!("{at} is not an address"))?;
        let mut request = Request::new("GET", &target, &headers);
        request.deadline = Some(deadline);
        let exchange = client.exchange(&request).await;
        let (status, location) = {
            let response = exchange.response().map_err(|failure| failure.to_string())?;
            (
                response.status(),
                response
                    .header("location")
                    .map(|value| String::from_utf8_lossy(value).into_owned()),
            )
        };
        match (status, location) {
            (200, _) => return Ok(exchange.into_body()),
            (300..=399, Some(location)) => {
                at = resolve_location(&at, &location);
                if !at.starts_with("https://") {
                    return Err(format!("it is redirected to {at}, which is not https"));
                }
            }
            _ => return Err(format!("the server answered {status}")),
        }
    }
    Err(format!("it was redirected more than {REDIRECTS_MAX} times"))
}
