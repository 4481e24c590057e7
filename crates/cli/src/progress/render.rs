//! A snapshot as lines of text.

use std::fmt::Write as _;

use brunt_duration::wait::format as short;

use super::{
    clock::clock,
    line::{Line, Paint},
    snapshot::{Phase, Rates, ScenarioProgress, Snapshot, State, Work},
};

/// Names are padded to at least this many columns, as in k6.
const NAME_LEAST: usize = 4;
/// Names are cut to this many columns.
const NAME_WIDTH: usize = 30;
/// On a terminal of fewer columns names are cut further.
const NARROW: usize = 60;
/// A bar between its brackets, where there is room.
const BAR_WIDTH: usize = 38;
/// A bar shorter than this says nothing; the percentage takes its place.
const BAR_LEAST: usize = 8;

/// Where the lines will stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// Draw bars; else write percentages.
    pub(crate) bars: bool,
    pub(crate) color: bool,
    /// Columns of the terminal. None: lines are as long as they are.
    pub(crate) width: Option<usize>,
    /// Lines of the terminal: more scenarios than fit are counted, not shown.
    pub(crate) height: Option<usize>,
    /// Nothing that k6 doesn't show, and nothing shorter.
    pub(crate) is_k6s: bool,
}

impl Style {
    /// Plain lines, for a pipe or a file.
    pub(crate) fn pipe() -> Self {
        Self { bars: false, color: false, width: None, height: None, is_k6s: true }
    }
}

/// The whole block: an empty line, the line of the run, one line for each scenario.
pub(crate) fn render(snapshot: &Snapshot, style: &Style) -> String {
    let mut out = String::from("\n");
    let stage = Row::of_stage(snapshot);
    let names = style.name_width();
    let row = |scenario| Row::new(scenario, stage.is_none(), names);
    let rows: Vec<Row> = snapshot.scenarios.iter().map(row).collect();
    let widths = Widths::of(rows.iter().chain(&stage));
    let is_running = stage.is_none();
    let first = stage.map_or_else(|| headline(snapshot, style), |row| row.line(&widths, style));
    first.finish(style.width, style.color, &mut out);
    let mut heads = 3;
    if let Some(rates) = snapshot.rates.filter(|_| is_running && !style.is_k6s) {
        rates_line(rates, style).finish(style.width, style.color, &mut out);
        heads += 1;
    }

    // The empty line, the headline, the live line, and where the cursor rests below.
    let room = style.height.map_or(usize::MAX, |height| height.saturating_sub(heads));
    let shown = if rows.len() <= room { rows.len() } else { room.saturating_sub(1) };
    for row in &rows[..shown] {
        row.line(&widths, style).finish(style.width, style.color, &mut out);
    }
    if shown < rows.len() {
        let mut more = Line::default();
        more.push(Paint::Faint, format!("… and {} more scenarios", rows.len() - shown));
        more.finish(style.width, style.color, &mut out);
    }
    out
}

/// `running (01.5s), 07/13 VUs, 13 complete and 0 interrupted iterations`; in fewer words where that has no room.
fn headline(snapshot: &Snapshot, style: &Style) -> Line {
    let Snapshot { vus_active, vus_ready, complete, interrupted, .. } = snapshot;
    let width = digits(*vus_ready);
    let word = if snapshot.phase == Phase::Paused { "paused" } else { "running" };
    let clock = clock(snapshot.elapsed, snapshot.longest);
    let vus = format!("{vus_active:0width$}/{vus_ready} VUs");
    let cut = if *interrupted > 0 { format!(", {interrupted} cut") } else { String::new() };
    style.first_that_fits(&[
        format!(
            "{word} ({clock}), {vus}, {complete} complete and {interrupted} interrupted iterations"
        ),
        format!("{word} ({clock}), {vus}, {complete} iterations{cut}"),
        format!("{clock}, {vus}, {complete} iters{cut}"),
    ])
}

/// `1234 requests/s, p95 12.3ms, 0.1% failed`, of the last seconds.
fn rates_line(rates: Rates, style: &Style) -> Line {
    let Rates { requests, p95_ms, failed } = rates;
    let rate = match requests {
        rate if rate < 100.0 => format!("{rate:.1}"),
        rate => format!("{rate:.0}"),
    };
    let p95 = p95_ms.map(|ms| match ms {
        ms if ms < 10.0 => format!("{ms:.2}ms"),
        ms if ms < 1000.0 => format!("{ms:.0}ms"),
        ms if ms < 60_000.0 => format!("{:.2}s", ms / 1000.0),
        ms => format!("{:.1}m", ms / 60_000.0),
    });
    // No share that is there is told as none.
    let failed = failed.map(|share| match share * 100.0 {
        0.0 => "0%".to_owned(),
        percent if percent < 0.1 => "<0.1%".to_owned(),
        percent if percent > 99.9 && share < 1.0 => ">99.9%".to_owned(),
        percent => format!("{percent:.1}%"),
    });
    let told = |first: String, p95_word: &str, failed_word: &str| {
        let p95 = p95.iter().map(|p95| format!("{p95_word}{p95}"));
        let failed = failed.iter().map(|share| format!("{share}{failed_word}"));
        [first].into_iter().chain(p95).chain(failed).collect::<Vec<_>>().join(", ")
    };
    let mut line = style.first_that_fits(&[
        told(format!("last 5s: {rate} requests/s"), "p95 ", " failed"),
        told(format!("{rate} req/s"), "p95 ", " failed"),
        told(format!("{rate}/s"), "p95 ", " fail"),
    ]);
    if rates.failed.is_some_and(|share| share > 0.0) {
        line.paint(Paint::Red);
    }
    line
}

impl Style {
    /// The first, but the last if none fits.
    fn first_that_fits(&self, texts: &[String; 3]) -> Line {
        let room = self.width.filter(|_| !self.is_k6s).unwrap_or(usize::MAX);
        let fits = |text: &&String| text.chars().count() <= room;
        let text = texts.iter().find(fits).unwrap_or(&texts[2]);
        let mut line = Line::default();
        line.push(Paint::Plain, text);
        line
    }

    /// How much of a name is shown: of few columns, most belong to what changes.
    fn name_width(&self) -> usize {
        match self.width.filter(|_| !self.is_k6s) {
            Some(width) if width < NARROW => (width / 4).max(NAME_LEAST + 3),
            _ => NAME_WIDTH,
        }
    }
}

/// One scenario's texts, before they are aligned.
struct Row {
    name: String,
    mark: (Paint, char),
    done: f64,
    columns: Vec<String>,
}

/// The widths that all rows share.
struct Widths {
    name: usize,
    columns: Vec<usize>,
}

impl Widths {
    fn of<'a>(rows: impl Iterator<Item = &'a Row>) -> Self {
        let mut columns = Vec::new();
        let mut name = NAME_LEAST;
        for row in rows {
            name = name.max(row.name.chars().count());
            for (index, text) in row.columns.iter().enumerate() {
                if columns.len() == index {
                    columns.push(0);
                }
                columns[index] = columns[index].max(text.chars().count());
            }
        }
        Self { name, columns }
    }
}

impl Row {
    /// The bar of the stages before the scenarios start; `None` after that.
    fn of_stage(snapshot: &Snapshot) -> Option<Self> {
        let (name, done, text) = match snapshot.phase {
            Phase::Initializing { total } => {
                let ready = snapshot.vus_ready;
                let text =
                    format!("{ready:0width$}/{total} VUs initialized", width = digits(total));
                ("Init", ready as f64 / total.max(1) as f64, text)
            }
            Phase::Setup => ("Run", 1.0, "setup()".to_owned()),
            Phase::Paused | Phase::Running | Phase::Ended => return None,
        };
        Some(Self { name: name.to_owned(), mark: (Paint::Plain, ' '), done, columns: vec![text] })
    }

    /// Until the scenarios are `launched` there is nothing to tell but their names.
    fn new(scenario: &ScenarioProgress, launched: bool, names: usize) -> Self {
        let name = cut_name(&scenario.name, names);
        if !launched {
            return Self { name, mark: (Paint::Plain, ' '), done: 0.0, columns: Vec::new() };
        }
        let mark = match scenario.state {
            State::Waiting { .. } => (Paint::Faint, '•'),
            State::Running => (Paint::Plain, ' '),
            State::Stopping => (Paint::Plain, '↓'),
            State::Interrupted => (Paint::Red, '✗'),
            State::Done => (Paint::Green, '✓'),
        };
        let done = if scenario.done.is_finite() { scenario.done.clamp(0.0, 1.0) } else { 0.0 };
        Self { name, mark, done, columns: columns(scenario) }
    }

    fn line(&self, widths: &Widths, style: &Style) -> Line {
        // As k6 pads them: what is last of all columns is not padded, what is last of this row is.
        let mut columns = String::new();
        let last = widths.columns.len().saturating_sub(1);
        for (index, (text, width)) in self.columns.iter().zip(&widths.columns).enumerate() {
            let width = if index < last { width + 1 } else { 0 };
            let blank = if index == 0 { "" } else { " " };
            // Writing to a String can't fail.
            let _ = write!(columns, "{blank}{text:<width$}");
        }
        let widest: usize = widths.columns.iter().map(|width| width + 2).sum();

        let mut line = Line::default();
        line.push(Paint::Plain, format!("{:<width$} ", self.name, width = widths.name));
        line.push(self.mark.0, self.mark.1.to_string()).push(Paint::Plain, " [");
        let taken = line.width() + 2 + widest.saturating_sub(2);
        let room =
            style.width.map_or(BAR_WIDTH, |width| width.saturating_sub(taken).min(BAR_WIDTH));
        if style.bars && room >= BAR_LEAST {
            let full = (self.done * room as f64) as usize;
            let (full, arrow) = if full < room && full > 0 { (full - 1, ">") } else { (full, "") };
            let drawn = full + arrow.len();
            line.push(Paint::Plain, format!("{}{arrow}", "=".repeat(full)));
            line.push(Paint::Faint, "-".repeat(room - drawn));
        } else {
            line.push(Paint::Plain, format!(" {:3.0}% ", self.done * 100.0));
        }
        line.push(Paint::Plain, "]");
        if !columns.is_empty() {
            line.push(Paint::Plain, format!(" {columns}"));
        }
        line
    }
}

fn columns(scenario: &ScenarioProgress) -> Vec<String> {
    let ScenarioProgress { vus, elapsed, duration, .. } = *scenario;
    if let State::Waiting { left, start } = scenario.state {
        return vec!["waiting".to_owned(), clock(left, start)];
    }
    let vus = match scenario.vus_active {
        Some(active) => format!("{active:0width$}/{vus} VUs", width = digits(vus)),
        None => format!("{vus} VUs"),
    };
    let whole = match scenario.work {
        // k6 writes the stages' time as its clock does.
        Work::Stages => clock(duration, duration),
        _ => short(duration),
    };
    let time = match scenario.work {
        // They may all be done before the time is over, and some may be left after it.
        Work::Shared { .. } => format!("{}/{whole}", clock(elapsed, duration)),
        _ if elapsed >= duration => short(duration),
        _ => format!("{}/{whole}", clock(elapsed, duration)),
    };
    let work = match scenario.work {
        Work::Time | Work::Stages => None,
        Work::Shared { done, total } => {
            Some(format!("{done:0width$}/{total} shared iters", width = digits(total)))
        }
        Work::PerVu { done, total, each } => {
            Some(format!("{done:0width$}/{total} iters, {each} per VU", width = digits(total)))
        }
        Work::Rate { now, highest } => {
            let width = format!("{highest:.2}").len();
            Some(format!("{now:0width$.2} iters/s"))
        }
    };
    [vus, time].into_iter().chain(work).collect()
}

fn cut_name(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_owned();
    }
    name.chars().take(width - 3).chain("...".chars()).collect()
}

fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn seconds(value: f64) -> Duration {
        Duration::from_secs_f64(value)
    }

    fn scenario(name: &str, state: State, done: f64, work: Work) -> ScenarioProgress {
        ScenarioProgress {
            name: name.to_owned(),
            state,
            done,
            vus_active: None,
            vus: 3,
            elapsed: seconds(done * 5.0),
            duration: seconds(5.0),
            work,
        }
    }

    fn example() -> Snapshot {
        let mut ramp = scenario("ramp", State::Stopping, 1.0, Work::Time);
        ramp.vus_active = Some(1);
        let mut rate =
            scenario("rate", State::Running, 0.2, Work::Rate { now: 3.869, highest: 30.0 });
        rate.vus_active = Some(4);
        rate.vus = 15;
        Snapshot {
            phase: Phase::Running,
            elapsed: seconds(1.04),
            longest: seconds(631.0),
            vus_active: 5,
            vus_ready: 18,
            complete: 9,
            interrupted: 0,
            rates: None,
            scenarios: vec![
                scenario("a", State::Running, 0.5, Work::Shared { done: 3, total: 20 }),
                ramp,
                rate,
                scenario("per", State::Done, 1.0, Work::PerVu { done: 12, total: 12, each: 4 }),
                scenario("cut", State::Interrupted, 0.296, Work::Stages),
                scenario(
                    "a_very_long_scenario_name_beyond_thirty",
                    State::Waiting { left: seconds(12.34), start: seconds(90.0) },
                    0.0,
                    Work::Time,
                ),
            ],
        }
    }

    #[test]
    fn a_pipe_gets_percentages() {
        let drawn = render(&example(), &Style::pipe());
        // The blanks at the end are k6's.
        assert!(drawn.contains("] 1/3 VUs    5s        \n"), "{drawn}");
        assert!(drawn.contains("] waiting    0m12.3s   \n"), "{drawn}");
        let trimmed: Vec<&str> = drawn.lines().map(str::trim_end).collect();
        insta::assert_snapshot!(trimmed.join("\n"), @r"

        running (00m01.0s), 05/18 VUs, 9 complete and 0 interrupted iterations
        a                                [  50% ] 3 VUs      2.5s/5s    03/20 shared iters
        ramp                           ↓ [ 100% ] 1/3 VUs    5s
        rate                             [  20% ] 04/15 VUs  1.0s/5s    03.87 iters/s
        per                            ✓ [ 100% ] 3 VUs      5s         12/12 iters, 4 per VU
        cut                            ✗ [  30% ] 3 VUs      1.5s/5.0s
        a_very_long_scenario_name_b... • [   0% ] waiting    0m12.3s
        ");
    }

    #[test]
    fn a_terminal_gets_bars_that_shrink() {
        let style = |width| Style {
            bars: true,
            color: false,
            width: Some(width),
            height: Some(40),
            is_k6s: true,
        };
        let wide = render(&example(), &style(120));
        insta::assert_snapshot!(wide, @r"

        running (00m01.0s), 05/18 VUs, 9 complete and 0 interrupted iterations
        a                                [==================>-------------------] 3 VUs      2.5s/5s    03/20 shared iters
        ramp                           ↓ [======================================] 1/3 VUs    5s
        rate                             [======>-------------------------------] 04/15 VUs  1.0s/5s    03.87 iters/s
        per                            ✓ [======================================] 3 VUs      5s         12/12 iters, 4 per VU
        cut                            ✗ [==========>---------------------------] 3 VUs      1.5s/5.0s
        a_very_long_scenario_name_b... • [--------------------------------------] waiting    0m12.3s
        ");
        for width in [20, 40, 60, 79, 80, 81, 100, 300] {
            let drawn = render(&example(), &style(width));
            assert!(drawn.lines().all(|line| line.chars().count() <= width), "{drawn}");
            assert_eq!(drawn.lines().count(), 8);
        }
    }

    #[test]
    fn a_live_line_tells_the_last_seconds_in_as_many_words_as_there_is_room_for() {
        let style = |width| Style {
            bars: true,
            color: false,
            width: Some(width),
            height: Some(40),
            is_k6s: false,
        };
        let rates = Rates { requests: 1234.5, p95_ms: Some(123.45), failed: Some(0.0123) };
        let snapshot = Snapshot { rates: Some(rates), interrupted: 2, ..example() };
        let wide = render(&snapshot, &style(100));
        let told = "\nrunning (00m01.0s), 05/18 VUs, 9 complete and 2 interrupted iterations\n\
                    last 5s: 1234 requests/s, p95 123ms, 1.2% failed\n";
        assert!(
            wide.starts_with(told) && wide.contains("\na_very_long_scenario_name_b..."),
            "{wide}"
        );
        insta::assert_snapshot!(render(&snapshot, &style(40)), @r"

        00m01.0s, 05/18 VUs, 9 iters, 2 cut
        1234 req/s, p95 123ms, 1.2% failed
        a            [  50% ] 3 VUs      2.5s/5s
        ramp       ↓ [ 100% ] 1/3 VUs    5s
        rate         [  20% ] 04/15 VUs  1.0s/5s
        per        ✓ [ 100% ] 3 VUs      5s
        cut        ✗ [  30% ] 3 VUs      1.5s/5.
        a_very_... • [   0% ] waiting    0m12.3s
        ");
        for width in 20..200 {
            let drawn = render(&snapshot, &style(width));
            assert!(drawn.lines().all(|line| line.chars().count() <= width), "{drawn}");
        }
        let k6s = Style { is_k6s: true, ..style(100) };
        assert!(!render(&snapshot, &k6s).contains("requests/s"));
    }

    #[test]
    fn what_does_not_fit_the_height_is_counted() {
        let (width, height) = (Some(100), Some(6));
        let style = Style { bars: true, color: true, width, height, is_k6s: true };
        let drawn = render(&example(), &style);
        assert_eq!(drawn.lines().count(), 5);
        assert!(drawn.contains("… and 4 more scenarios"));
    }

    #[test]
    fn before_the_scenarios_the_stage_has_a_bar_of_its_own() {
        let example = example();
        let scenarios = example.scenarios[..2].to_vec();
        let phase = Phase::Initializing { total: 1000 };
        let mut snapshot = Snapshot { phase, vus_ready: 250, scenarios, ..Snapshot::default() };
        insta::assert_snapshot!(render(&snapshot, &Style::pipe()), @r"

        Init   [  25% ] 0250/1000 VUs initialized
        a      [   0% ]
        ramp   [   0% ]
        ");
        snapshot.phase = Phase::Setup;
        insta::assert_snapshot!(render(&snapshot, &Style::pipe()), @r"

        Run    [ 100% ] setup()
        a      [   0% ]
        ramp   [   0% ]
        ");
    }

    #[test]
    fn shared_iterations_show_the_time_they_take_to_stop() {
        let mut late = scenario("a", State::Interrupted, 0.5, Work::Shared { done: 10, total: 20 });
        late.elapsed = seconds(5.5);
        let columns = columns(&late);
        assert_eq!(columns, ["3 VUs", "5.5s/5s", "10/20 shared iters"]);
    }
}
