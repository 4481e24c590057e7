//! `brunt view`: the pages of run files, served to a browser on this machine.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brunt_page::{Access, Answering, Body, PageError, Site, Stretch};
use brunt_runfile::RunFile;
use clap::{Arg, ArgAction, ArgMatches, Command};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::Semaphore;

use super::{print, switch};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

/// A call of it.
#[derive(Debug)]
pub(crate) struct Call {
    files: Vec<PathBuf>,
    no_open: bool,
}

pub(super) fn command() -> Command {
    Command::new("view")
        .about("Show run files in the browser")
        .override_usage("brunt view [OPTIONS] <FILE>...")
        .arg(
            Arg::new("files")
                .value_name("FILE")
                .action(ArgAction::Append)
                .help("The run files; of several there is a list"),
        )
        .arg(switch("no-open", "Print the address, and open no browser"))
}

impl Call {
    pub(super) fn read(matches: &ArgMatches) -> Outcome<Self> {
        let files: Vec<PathBuf> =
            matches.get_many::<String>("files").into_iter().flatten().map(PathBuf::from).collect();
        if files.is_empty() {
            return Err(Failure::usage("brunt view takes run files, and none is named")
                .hint("`brunt runs` lists those in brunt-results"));
        }
        Ok(Self { files, no_open: matches.get_flag("no-open") })
    }
}

pub(super) fn perform(context: &Context, call: &Call) -> Outcome<Exit> {
    for path in &call.files {
        // Better now than in the browser.
        RunFile::open(path).map_err(|error| Failure::usage(error.to_string()))?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Before the server: a signal from here on is ours.
    let mut signals = {
        let _inside = runtime.enter();
        crate::run::signal::Signals::new()?
    };
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let at = listener.local_addr()?;
    let access = Access::new(at, "127.0.0.1", None)?;
    let address = brunt_page::shown(at, "127.0.0.1", &access);
    brunt_page::serve(listener, Some(access), Arc::new(Shelf::new(call.files.clone())), || {})?;
    print(context, &format!("{address}\n"))?;
    let is_open = !call.no_open && brunt_page::open_browser(&address);
    if !context.global.quiet {
        let how = if is_open { "" } else { "open the address in a browser; " };
        log::info!("{how}serving until Ctrl-C");
    }
    runtime.block_on(async { signals.next().await });
    Ok(Exit::Success)
}

/// The files. One page is made at a time, beside the thread of the server: other browsers get their answers meanwhile.
struct Shelf {
    files: Arc<[PathBuf]>,
    room: Arc<Semaphore>,
}

impl Shelf {
    fn new(files: Vec<PathBuf>) -> Self {
        Self { files: files.into(), room: Arc::new(Semaphore::new(1)) }
    }
}

impl Site for Shelf {
    fn answer(&self, request: Request<Incoming>) -> Answering {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Box::pin(async {
                refused(StatusCode::METHOD_NOT_ALLOWED, "not with this method\n")
            });
        }
        let wanted = match request.uri().path() {
            "/" => Some((self.files.len() == 1).then_some(0)),
            path => path
                .strip_prefix("/runs/")
                .and_then(|place| place.parse::<usize>().ok())
                .filter(|place| *place < self.files.len())
                .map(Some),
        };
        let Some(wanted) = wanted else {
            return Box::pin(async { refused(StatusCode::NOT_FOUND, "there is nothing here\n") });
        };
        let (files, room) = (Arc::clone(&self.files), Arc::clone(&self.room));
        Box::pin(async move {
            let _permit = room.acquire_owned().await;
            let made = tokio::task::spawn_blocking(move || match wanted {
                Some(place) => page(&files[place]),
                None => brunt_page::page(list(&files)),
            });
            made.await.unwrap_or_else(|error| {
                refused(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    format!("the page can't be made: {error}\n"),
                )
            })
        })
    }
}

fn refused(status: StatusCode, why: impl Into<bytes::Bytes>) -> Response<Body> {
    brunt_page::text(status, "text/plain; charset=utf-8", why)
}

/// The page of a file as it is now: a run may still be going on.
fn page(path: &Path) -> Response<Body> {
    let made = RunFile::open(path).map_err(PageError::from).and_then(|file| {
        let mut page = Vec::new();
        brunt_page::saved(&file, Stretch::default(), &mut page)?;
        Ok(page)
    });
    match made {
        Ok(page) => brunt_page::page(page),
        Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    }
}

/// A list of the files, each a link.
fn list(files: &[PathBuf]) -> String {
    let rows = files.iter().enumerate().map(|(place, path)| {
        let about = RunFile::open(path).map_or_else(
            |error| error.to_string(),
            |file| {
                let about = file.about();
                let moment = jiff::Timestamp::from_microsecond(about.started).unwrap_or_default();
                let seconds = about.duration.as_secs_f64();
                format!("{}, {moment:.0}, {seconds:.1} s, {}", about.name, about.state.text())
            },
        );
        let (name, about) = (escaped(&path.display().to_string()), escaped(&about));
        format!("<li><a href=\"/runs/{place}\">{name}</a><br><small>{about}</small></li>\n")
    });
    let rows: String = rows.collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Runs – Brunt</title>\n\
         <style>body {{ font: 1rem/1.6 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }}\n\
         li {{ margin: 0 0 1rem; overflow-wrap: anywhere }}</style>\n</head>\n<body>\n<h1>Runs</h1>\n<ul>\n{rows}</ul>\n</body>\n</html>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_stay_text() {
        let page = list(&["<b>\".brunt".into(), "x".into()]);
        assert!(page.contains("<a href=\"/runs/0\">&lt;b&gt;&quot;.brunt</a>"), "{page}");
        assert!(!page.contains("<b>"));
    }

    #[test]
    fn files_are_needed() {
        let read = |line: &str| {
            Call::read(&command().no_binary_name(true).get_matches_from(line.split_whitespace()))
        };
        assert!(read("").is_err());
        let call = read("--no-open a b").unwrap();
        assert!(call.no_open && call.files.len() == 2);
    }
}
