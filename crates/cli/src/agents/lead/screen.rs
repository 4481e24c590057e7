//! Agents on one screen while the test goes on.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use brunt_cluster::{SeatView, Step, Touch, View};

use crate::progress;
use crate::screen::Screen;

/// Agents that have a line of their own: more are counted.
const LINES: usize = 20;

/// In a pipe, a line is written so often.
const PIPE_PERIOD: Duration = Duration::from_secs(1);

/// Draws views: a block at the foot of a terminal, a line a second in a pipe.
pub(super) struct Drawer {
    screen: Arc<Screen>,
    color: bool,
    longest: Duration,
    written: Option<Instant>,
}

impl Drawer {
    pub(super) fn new(screen: Arc<Screen>, color: bool, longest: Duration) -> Self {
        Self { screen, color, longest, written: None }
    }

    /// Draws the test as it is.
    pub(super) fn draw(&mut self, view: &View) {
        if self.screen.stdout_is_terminal() {
            let (width, height) = progress::size();
            self.screen.draw(block(view, self.longest, (width, height), self.color));
            return;
        }
        if self.written.is_none_or(|at| at.elapsed() >= PIPE_PERIOD) {
            self.written = Some(Instant::now());
            // That stdout is closed is noticed when the summary is written.
            let _ = self.screen.stdout(&format!("{}\n", headline(view, self.longest)));
        }
    }

    /// Takes the block away.
    pub(super) fn stop(&mut self) {
        if self.screen.stdout_is_terminal() {
            self.screen.draw(String::new());
        }
    }
}

/// `running (12.3s/1m30s), 4 of 4 agents, 12/12 VUs, 4012 iterations`
fn headline(view: &View, longest: Duration) -> String {
    let is_paused = view.is_held() || view.steering.paused && view.step == Some(Step::Run);
    let word = match view.step {
        _ if is_paused => "paused",
        None => "opening the run",
        Some(Step::Gather) => "waiting for agents",
        Some(Step::Load) => "loading the script",
        Some(Step::Setup) => "setup()",
        Some(Step::Start) => "starting",
        Some(Step::Run) => "running",
        Some(Step::Stopping) => "stopping",
        Some(Step::Teardown) => "teardown()",
        Some(Step::Close) => "gathering the last results",
        Some(Step::Done) => "done",
    };
    let seats = view.seats.len();
    let there = view.seats.iter().filter(|seat| is_there(seat)).count();
    let sum = |of: fn(&SeatView) -> u64| view.seats.iter().map(of).sum::<u64>();
    let active = sum(|seat| if is_there(seat) { seat.beat.vus } else { 0 });
    let ready = sum(|seat| if is_there(seat) { seat.beat.vus_max } else { 0 });
    let iterations = sum(|seat| seat.totals.iterations.max(seat.beat.iterations));
    let clock = match view.run_ns {
        Some(ns) => format!(
            " ({}/{})",
            progress::clock(Duration::from_nanos(ns), longest),
            brunt_duration::wait::format(longest)
        ),
        None => String::new(),
    };
    format!(
        "{word}{clock}, {there} of {seats} agents, {active}/{ready} VUs, {iterations} iterations"
    )
}

fn is_there(seat: &SeatView) -> bool {
    matches!(seat.touch, Touch::Alive | Touch::Suspect)
}

/// The headline, and a line for each agent: those that need a look first, if there are too many.
fn block(view: &View, longest: Duration, (width, height): (usize, usize), color: bool) -> String {
    let mut out = String::from("\n");
    line(&mut out, &headline(view, longest), width, None);
    let mut seats: Vec<(usize, &SeatView)> = view.seats.iter().enumerate().collect();
    let room = height.saturating_sub(4).clamp(1, LINES);
    if seats.len() > room {
        seats.sort_by_key(|(index, seat)| (std::cmp::Reverse(seat.touch as u8), *index));
    }
    let shown = if seats.len() > room { room.saturating_sub(1) } else { seats.len() };
    for (index, seat) in &seats[..shown] {
        let paint = match seat.touch {
            Touch::Lost => Some("31"),
            Touch::Suspect => Some("33"),
            _ => None,
        };
        line(&mut out, &seat_line(index + 1, seat), width, paint.filter(|_| color));
    }
    if shown < seats.len() {
        line(&mut out, &format!("… and {} more agents", seats.len() - shown), width, None);
    }
    out
}

/// `  3  host-c      running    3/3 VUs      1003 iterations  cpu 12%`
fn seat_line(number: usize, seat: &SeatView) -> String {
    let host = seat.agent.as_ref().map_or("-", |agent| agent.host.as_str());
    let state = match (seat.touch, seat.state) {
        (Touch::Empty, _) => "not here".to_owned(),
        (Touch::Lost, _) => "LOST".to_owned(),
        (Touch::Suspect, _) => "silent".to_owned(),
        (Touch::Gone, _) => "gone".to_owned(),
        (Touch::Alive, state) => {
            state.map_or("here".to_owned(), |state| format!("{state:?}").to_lowercase())
        }
    };
    let beat = &seat.beat;
    let iterations = seat.totals.iterations.max(beat.iterations);
    let mut text = format!(
        "{number:>4}  {host:<20.20} {state:<9} {:>5}/{} VUs {iterations:>10} iterations",
        beat.vus, beat.vus_max
    );
    if is_there(seat) {
        // Writing to a String can't fail.
        let _ = write!(text, "  cpu {:.0}%", beat.cpu * 100.0);
    }
    text
}

fn line(out: &mut String, text: &str, width: usize, paint: Option<&str>) {
    let text: String = text.chars().take(width.saturating_sub(1)).collect();
    let text = match paint {
        Some(code) => format!("\x1b[{code}m{text}\x1b[0m"),
        None => text,
    };
    out.push_str(&text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use brunt_cluster::{Beat, State, Steering, Totals};

    use super::*;

    fn seat(touch: Touch, vus: u64) -> SeatView {
        SeatView {
            agent: None,
            state: Some(State::Running),
            touch,
            beat: Beat { vus, vus_max: vus, cpu: 0.125, ..Beat::default() },
            totals: Totals { iterations: 10, ..Totals::default() },
            whole_ns: None,
        }
    }

    fn view(seats: Vec<SeatView>) -> View {
        View {
            step: Some(Step::Run),
            since: 0,
            run_ns: Some(1_500_000_000),
            steering: Steering::default(),
            is_cut_short: false,
            is_marked: false,
            seats,
        }
    }

    #[test]
    fn one_line_tells_all_agents() {
        let view = view(vec![seat(Touch::Alive, 3), seat(Touch::Lost, 4)]);
        let told = headline(&view, Duration::from_secs(90));
        assert_eq!(told, "running (0m01.5s/1m30s), 1 of 2 agents, 3/3 VUs, 20 iterations");
        let steering = Steering { paused: true, ..Steering::default() };
        let told = headline(&View { steering, ..view }, Duration::from_secs(90));
        assert!(told.starts_with("paused (0m01.5s/1m30s), 1 of 2 agents, "), "{told}");
    }

    #[test]
    fn the_block_fits_the_terminal_and_shows_the_lost_ones_first() {
        let mut seats: Vec<SeatView> = (0..50).map(|_| seat(Touch::Alive, 1)).collect();
        seats[40] = seat(Touch::Lost, 1);
        let block = block(&view(seats), Duration::from_secs(90), (50, 12), false);
        let lines: Vec<&str> = block.lines().collect();
        assert_eq!(lines.len(), 10);
        assert!(lines.iter().all(|line| line.chars().count() < 50));
        assert!(lines[2].starts_with("  41") && lines[2].contains("LOST"), "{block}");
        assert_eq!(lines[9], "… and 43 more agents");
    }
}
