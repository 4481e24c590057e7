//! A run as it goes on: its page gets a part each second, made once for everybody who looks.
//!
//! ```text
//! run file ──▶ thread of the feed: a part for each new slice, all so far for those who come late
//!                 │ bytes of an event, shared
//!                 ▼
//!              parts, the last two minutes ──▶ a stream for each browser, which takes them at its own pace
//! ```
//!
//! No browser has a queue: it has a number, the last part that it took. One that was away too long gets everything again.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use brunt_runfile::{RunFile, RunFileError, page::Page};
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use hyper::body::Frame;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::saved::{Stretch, pack, saved, title};
use crate::template;

/// How often the thread looks whether there is a new slice.
const LOOK: Duration = Duration::from_millis(250);
/// Parts that are kept for browsers that were away.
const PARTS_MAX: usize = 120;
/// The bytes of these parts.
const BYTES_MAX: usize = 16 << 20;
/// How often a silent stream says that it is there.
const HEARTBEAT: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 5000 });
/// After the end of a run browsers are waited for only so long after one of them asked for something.
const SIGN_MAX: Duration = Duration::from_secs(30);

/// A run that can be watched. Its clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Feed(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Wakes the thread, and whoever waits for it.
    changed: Condvar,
    /// Wakes the streams.
    news: News,
}

#[derive(Debug)]
struct News(watch::Sender<u64>);

impl Default for News {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

#[derive(Debug, Default)]
struct State {
    /// The number of the last part; the first is 1.
    last: u64,
    parts: VecDeque<(u64, Bytes)>,
    bytes: usize,
    /// All up to a part, as an event.
    whole: Option<(u64, Bytes)>,
    wants_whole: bool,
    /// The finished page up to a part; nothing if it can't be made of that.
    report: Option<(u64, Option<Bytes>)>,
    wants_report: bool,
    wish: Wish,
    /// The last wish that is done.
    done: Wish,
    /// There is a thread, or there was one.
    is_followed: bool,
    is_dead: bool,
    is_over: bool,
    viewers: usize,
    /// When a browser asked for something last, or the run ended.
    sign: Option<Instant>,
    name: String,
}

/// The wish of the run to the thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Wish {
    #[default]
    Follow,
    /// It has closed the file, so that its writer can end it.
    LetGo,
    /// It opens the file again and tells the end.
    End,
}

/// Somebody who looks; gone when dropped.
struct Viewer(Arc<Shared>);

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.lock().viewers -= 1;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change leaves the state whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells everybody that there is something new.
    fn tell(&self) {
        self.changed.notify_all();
        self.news.0.send_modify(|count| *count += 1);
    }
}

/// However the thread ends, all waiting for it ends too.
struct Last(Arc<Shared>);

impl Drop for Last {
    fn drop(&mut self) {
        self.0.lock().is_dead = true;
        self.0.tell();
    }
}

impl Feed {
    /// Follows the file of a run that goes on, on a thread that begins with `stand_back`.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn follow(&self, path: &Path, stand_back: fn()) -> std::io::Result<()> {
        let (shared, path) = (Arc::clone(&self.0), path.to_owned());
        shared.lock().is_followed = true;
        std::thread::Builder::new().name("brunt-page".to_owned()).spawn(move || {
            let _last = Last(Arc::clone(&shared));
            stand_back();
            if let Err(error) = (Follower { shared, path }).run() {
                let error = error.to_string();
                log::error!(error = error.as_str(); "The live page gets no more data");
            }
        })?;
        Ok(())
    }

    /// There is no run file that could be followed: who asks is told so.
    pub fn close(&self) {
        drop(Last(Arc::clone(&self.0)));
    }

    /// Whether no data come any more, though the run may go on.
    pub fn is_closed(&self) -> bool {
        self.0.lock().is_dead
    }

    /// The file is about to be ended: tells what is in it and closes it.
    pub fn let_go(&self) {
        self.ask(Wish::LetGo);
    }

    /// The file has its end: tells it.
    pub fn end(&self) {
        self.ask(Wish::End);
    }

    fn ask(&self, wish: Wish) {
        /// The thread answers sooner, unless the disk hangs.
        const PATIENCE: Duration = Duration::from_secs(20);
        let mut state = self.0.lock();
        if !state.is_followed {
            return;
        }
        state.wish = wish;
        self.0.changed.notify_all();
        let is_waiting = |state: &mut State| state.done < wish && !state.is_dead;
        drop(self.0.changed.wait_timeout_while(state, PATIENCE, is_waiting));
    }

    /// A browser asked for something: somebody looks at the page.
    pub fn sign(&self) {
        self.0.lock().sign = Some(Instant::now());
    }

    /// Whether a browser asked for something in the last half minute. One that only keeps its connection, and reads nothing, does not.
    pub fn has_sign(&self) -> bool {
        self.0.lock().sign.is_some_and(|sign| sign.elapsed() < SIGN_MAX)
    }

    /// How many browsers look.
    pub fn viewers(&self) -> usize {
        self.0.lock().viewers
    }

    /// Waits until no browser looks, for the time `most` at most; whether that is so.
    pub fn wait_for_none(&self, most: Duration) -> bool {
        let state = self.0.lock();
        let waited = self.0.changed.wait_timeout_while(state, most, |state| state.viewers > 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.viewers == 0
    }

    /// The live page. `live`: the part of the config of that name.
    pub fn page(&self, live: &Value) -> Bytes {
        self.sign();
        let name = title(&self.0.lock().name);
        let mut page = Vec::new();
        let config = json!({ "mode": "live", "live": live });
        // Memory takes all.
        drop(template::write(&mut page, &name, &config, &[]));
        page.into()
    }

    /// The page as a file, with all data so far; nothing if there is none within a minute.
    pub async fn report(&self) -> Option<Bytes> {
        const PATIENCE: Duration = Duration::from_mins(1);
        self.sign();
        let mut watch = self.0.news.0.subscribe();
        let made = async {
            loop {
                {
                    let mut state = self.0.lock();
                    match &state.report {
                        Some((last, report)) if *last == state.last => return report.clone(),
                        _ if state.last == 0 || state.is_dead => return None,
                        _ => {}
                    }
                    state.wants_report = true;
                    self.0.changed.notify_all();
                }
                watch.changed().await.ok()?;
            }
        };
        tokio::time::timeout(PATIENCE, made).await.ok().flatten()
    }

    /// The events for a browser that took this one last (`Last-Event-ID`).
    pub fn stream(
        &self,
        last: Option<&str>,
    ) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send + use<> {
        self.0.lock().viewers += 1;
        self.sign();
        let viewer = Viewer(Arc::clone(&self.0));
        let reader = Reader {
            last: last.and_then(number),
            has_end: false,
            watch: self.0.news.0.subscribe(),
            viewer,
        };
        stream::unfold(reader, |mut reader| async move {
            let piece = reader.next().await;
            Some((Ok(Frame::data(piece)), reader))
        })
    }
}

/// The number of a part in the text of its event; none if it is of another run.
fn number(id: &str) -> Option<u64> {
    let (number, run) = id.trim().split_once('-')?;
    number.parse().ok().filter(|_| run == std::process::id().to_string())
}

/// A browser's place in the stream.
struct Reader {
    last: Option<u64>,
    has_end: bool,
    watch: watch::Receiver<u64>,
    viewer: Viewer,
}

impl Reader {
    /// The next event, or a sign of life.
    async fn next(&mut self) -> Bytes {
        loop {
            self.watch.mark_unchanged();
            if let Some(piece) = self.ready() {
                return piece;
            }
            if tokio::time::timeout(HEARTBEAT, self.watch.changed()).await.is_err() {
                // Of a run that is over the browser is asked for a sign of life: it is what the process waits for.
                let ask: &[u8] =
                    if self.has_end { b"event: alive\ndata:\n\n" } else { b": ping\n\n" };
                return Bytes::from_static(ask);
            }
        }
    }

    fn ready(&mut self) -> Option<Bytes> {
        let shared = &self.viewer.0;
        let mut state = shared.lock();
        let first = state.parts.front().map_or(state.last + 1, |(number, _)| *number);
        let is_known = |last: &u64| *last + 1 >= first && *last <= state.last;
        let is_known = self.last.is_some_and(|last| is_known(&last));
        if let Some(last) = self.last.filter(|last| is_known && *last < state.last) {
            let (number, part) = &state.parts[(last + 1 - first) as usize];
            self.last = Some(*number);
            return Some(part.clone());
        }
        // It begins, or it was away for too long.
        if let Some((number, whole)) = &state.whole
            && !is_known
            && *number + 1 >= first
        {
            self.last = Some(*number);
            return Some(whole.clone());
        }
        if state.is_dead || is_known && state.is_over {
            // There is nothing more to come, whether all was told or not.
            let lost: &[u8] = b"event: end\ndata: lost\n\n";
            let end = if state.is_over { b"event: end\ndata:\n\n" } else { lost };
            let is_new = !std::mem::replace(&mut self.has_end, true);
            return is_new.then(|| Bytes::from_static(end));
        }
        if !is_known {
            state.wants_whole = true;
            shared.changed.notify_all();
        }
        None
    }
}

/// The thread that reads the file.
struct Follower {
    shared: Arc<Shared>,
    path: PathBuf,
}

impl Follower {
    fn run(&self) -> Result<(), RunFileError> {
        let mut file = RunFile::open(&self.path)?;
        let mut page = Page::live(&file);
        self.shared.lock().name.clone_from(&file.about().name);
        let first = page.everything(&file)?;
        self.publish(&first, true);
        loop {
            let wish = self.wait(|state| state.wish != Wish::Follow || wants(state), LOOK);
            file.refresh()?;
            if file.about().slices > page.slices() || wish != Wish::Follow {
                let news = page.news(&file)?;
                self.publish(&news, false);
            }
            self.serve(&file, &mut page)?;
            if wish != Wish::Follow {
                break;
            }
        }
        drop(file);
        self.done(Wish::LetGo);
        self.wait(|state| state.wish == Wish::End, Duration::MAX);
        let file = RunFile::open(&self.path)?;
        let news = page.news(&file)?;
        self.publish(&news, false);
        {
            let mut state = self.shared.lock();
            state.is_over = true;
            state.sign = Some(Instant::now());
        }
        self.done(Wish::End);
        loop {
            self.wait(wants, Duration::MAX);
            self.serve(&file, &mut page)?;
        }
    }

    fn done(&self, wish: Wish) {
        self.shared.lock().done = wish;
        self.shared.tell();
    }

    /// Waits until something is wanted, for the time `most` at most.
    fn wait(&self, is_wanted: impl Fn(&State) -> bool, most: Duration) -> Wish {
        // The system's clock has no moment after all time.
        let most = most.min(Duration::from_hours(24 * 365));
        let state = self.shared.lock();
        let waited = self.shared.changed.wait_timeout_while(state, most, |state| !is_wanted(state));
        waited.unwrap_or_else(PoisonError::into_inner).0.wish
    }

    /// Makes what those who come late and those who want the page as a file wait for.
    fn serve(&self, file: &RunFile, page: &mut Page) -> Result<(), RunFileError> {
        let (wants_whole, wants_report) = {
            let mut state = self.shared.lock();
            (std::mem::take(&mut state.wants_whole), std::mem::take(&mut state.wants_report))
        };
        if wants_whole {
            let document = page.so_far(file)?;
            let mut state = self.shared.lock();
            state.whole = Some((state.last, event(state.last, &document)));
        }
        if wants_report {
            let mut report = Vec::new();
            let made = saved(file, Stretch::default(), &mut report);
            if let Err(error) = &made {
                log::warn!("the page can't be made: {error}");
            }
            // Those waiting for it are told so, and do not ask the same again.
            let mut state = self.shared.lock();
            state.report = Some((state.last, made.is_ok().then(|| report.into())));
        }
        if wants_whole || wants_report {
            self.shared.tell();
        }
        Ok(())
    }

    /// The next part, for everybody. The first one is everything.
    fn publish(&self, document: &[u8], is_whole: bool) {
        let number = self.shared.lock().last + 1;
        let part = event(number, document);
        let mut state = self.shared.lock();
        state.last = number;
        if is_whole {
            state.whole = Some((number, part.clone()));
        }
        state.bytes += part.len();
        state.parts.push_back((number, part));
        while state.parts.len() > PARTS_MAX || state.bytes > BYTES_MAX && state.parts.len() > 1 {
            let gone = state.parts.pop_front().map_or(0, |(_, part)| part.len());
            state.bytes -= gone;
        }
        drop(state);
        self.shared.tell();
    }
}

fn wants(state: &State) -> bool {
    state.wants_whole || state.wants_report
}

/// A part as an event of the stream.
fn event(number: u64, document: &[u8]) -> Bytes {
    // Packing into memory can't fail; an unpacked document would do as well.
    let packed = pack(document).unwrap_or_else(|_| document.to_vec());
    let run = std::process::id();
    let mut text = format!("id: {number}-{run}\nevent: part\ndata: ");
    STANDARD.encode_string(packed, &mut text);
    text.push_str("\n\n");
    text.into()
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, StreamExt as _};

    use super::*;

    fn feed() -> (Feed, Follower) {
        let feed = Feed::default();
        let follower = Follower { shared: Arc::clone(&feed.0), path: PathBuf::new() };
        (feed, follower)
    }

    async fn next(
        stream: &mut (impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Unpin),
    ) -> String {
        loop {
            let piece = stream.next().await.expect("it never ends").expect("it never fails");
            let data = piece.into_data().expect("data").to_vec();
            let text = String::from_utf8(data).expect("text");
            if text != ": ping\n\n" {
                return text;
            }
        }
    }

    #[tokio::test]
    async fn who_comes_back_gets_what_was_missed_and_who_comes_late_everything() {
        let (feed, follower) = feed();
        follower.publish(b"first", true);
        follower.publish(b"second", false);
        follower.publish(b"third", false);
        let run = std::process::id();
        let mut late = Box::pin(feed.stream(None));
        for number in 1..=3 {
            assert!(
                next(&mut late).await.starts_with(&format!("id: {number}-{run}\nevent: part\n"))
            );
        }
        let mut back = Box::pin(feed.stream(Some(&format!("2-{run}"))));
        assert!(next(&mut back).await.starts_with(&format!("id: 3-{run}\n")));
        let mut other = Box::pin(feed.stream(Some("2-0")));
        assert!(
            next(&mut other).await.starts_with(&format!("id: 1-{run}\n")),
            "another run's number"
        );
        assert_eq!(feed.viewers(), 3);
        drop((late, other));
        assert_eq!(feed.viewers(), 1);
        feed.0.lock().is_over = true;
        assert_eq!(next(&mut back).await, "event: end\ndata:\n\n");
    }

    #[tokio::test]
    async fn parts_have_a_bound_and_who_was_away_too_long_begins_anew() {
        let (feed, follower) = feed();
        follower.publish(b"first", true);
        for _ in 0..PARTS_MAX + 10 {
            follower.publish(b"more", false);
        }
        assert_eq!(feed.0.lock().parts.len(), PARTS_MAX);
        let mut away = Box::pin(feed.stream(Some(&format!("2-{}", std::process::id()))));
        let waited = away.next().now_or_never();
        assert!(waited.is_none() && feed.0.lock().wants_whole, "the whole is too old");
        let last = feed.0.lock().last;
        feed.0.lock().whole = Some((last, event(last, b"all")));
        feed.0.tell();
        assert!(next(&mut away).await.starts_with(&format!("id: {last}-")));
    }

    #[tokio::test]
    async fn who_waits_for_what_never_comes_is_told() {
        // A thread that dies, however it dies.
        let (feed, follower) = feed();
        follower.publish(b"first", true);
        let mut known = Box::pin(feed.stream(None));
        next(&mut known).await;
        let dying = {
            let shared = Arc::clone(&feed.0);
            std::thread::spawn(move || {
                let _last = Last(shared);
                panic!("as a fault of ours would");
            })
        };
        assert!(dying.join().is_err());
        assert_eq!(next(&mut known).await, "event: end\ndata: lost\n\n");
        assert!(feed.report().await.is_none() && feed.is_closed());
        // A feed without followers.
        let none = Feed::default();
        none.close();
        let mut early = Box::pin(none.stream(None));
        assert_eq!(next(&mut early).await, "event: end\ndata: lost\n\n");
    }

    #[tokio::test]
    async fn a_report_that_cannot_be_is_not_asked_for_again_and_again() {
        let (feed, follower) = feed();
        follower.publish(b"first", true);
        feed.0.lock().report = Some((1, None));
        assert!(feed.report().await.is_none());
        assert!(!feed.0.lock().wants_report, "that is known already");
        // The next part may do.
        follower.publish(b"second", false);
        let waited = feed.report().now_or_never();
        assert!(waited.is_none() && feed.0.lock().wants_report);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a thread of the test's own, not a core")]
    fn the_end_is_waited_for_until_the_end() {
        let (feed, follower) = feed();
        let mut state = feed.0.lock();
        state.is_followed = true;
        // The file was not let go of in time.
        state.wish = Wish::LetGo;
        drop(state);
        let asking = {
            let feed = feed.clone();
            std::thread::spawn(move || {
                feed.end();
                let state = feed.0.lock();
                (state.done, state.is_over)
            })
        };
        follower.wait(|state| state.wish == Wish::End, Duration::MAX);
        follower.done(Wish::LetGo);
        std::thread::sleep(Duration::from_millis(50));
        feed.0.lock().is_over = true;
        follower.done(Wish::End);
        let told = asking.join().expect("it ends");
        assert_eq!(told, (Wish::End, true));
    }

    #[tokio::test]
    async fn after_the_end_a_browser_is_asked_for_a_sign_of_life() {
        let (feed, follower) = feed();
        assert!(!feed.has_sign());
        follower.publish(b"first", true);
        let mut stream = Box::pin(feed.stream(None));
        assert!(feed.has_sign());
        next(&mut stream).await;
        feed.0.lock().is_over = true;
        feed.0.tell();
        assert_eq!(next(&mut stream).await, "event: end\ndata:\n\n");
        assert_eq!(next(&mut stream).await, "event: alive\ndata:\n\n");
        let Some(long_ago) = Instant::now().checked_sub(SIGN_MAX) else { return };
        feed.0.lock().sign = Some(long_ago);
        assert!(!feed.has_sign() && feed.viewers() == 1);
    }
}
