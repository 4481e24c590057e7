//! The search told to people: its head, a line for each step, the table with bars at the end.

use std::fmt::Write as _;

use brunt_find::{Outcome, Purpose, Step};

use super::{Finding, Request, goal::Goal, request::number};

/// Columns of a bar.
const BAR: usize = 14;

/// Eighths of a column.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// The lines before the first step.
pub(super) fn head(request: &Request, goals: &[Goal], left_out: &[String]) -> String {
    let mut lines = String::new();
    for text in left_out {
        // Writing to a String can't fail.
        let _ = writeln!(lines, "  {text}");
    }
    let names: Vec<&str> = goals.iter().map(|goal| goal.name.as_str()).collect();
    format!(
        "searching from {} to at most {}, {} a step, for the highest load with:\n  {}\n{lines}",
        request.load(request.from),
        request.load(request.max),
        brunt_duration::wait::format(request.hold),
        names.join("\n  ")
    )
}

/// How a step ended.
pub(super) fn word(step: &Step) -> String {
    match (&step.outcome, step.trial.purpose) {
        (Outcome::Held, Purpose::Confirm) => "held for longer".to_owned(),
        (Outcome::Held, _) => "held".to_owned(),
        (Outcome::Broke(why), _) => format!("broke ({why})"),
        (Outcome::Generator(why), _) => format!("the generator was the limit ({why})"),
        (Outcome::Unmeasured(goal), _) => format!("no values for {goal}"),
    }
}

/// The same without its reason.
pub(super) fn word_in_short(step: &Step) -> &'static str {
    match &step.outcome {
        Outcome::Held => "held",
        Outcome::Broke(_) => "broke",
        Outcome::Generator(_) => "the generator was the limit",
        Outcome::Unmeasured(_) => "no values",
    }
}

/// The line of a step as it ends.
pub(super) fn line(request: &Request, place: usize, step: &Step) -> String {
    let measured = &step.measured;
    format!(
        "{place:>4}  {:>10}  {:>9} good/s  {:>7} failed  {:>9}  {}\n",
        request.load(step.trial.load),
        number(measured.good),
        failed(step),
        measured.latency_ms.map_or_else(|| "-".to_owned(), milliseconds),
        word(step)
    )
}

/// The result: sentence, figures, all steps by their load.
pub(super) fn result(finding: &Finding, width: usize, color: bool) -> String {
    let mut text = String::new();
    let bold = |text: &str| if color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() };
    // Writing to a String can't fail.
    let _ = writeln!(text, "\n{}", bold(&sentence(&finding.headline())));
    let is_known = finding.plateau.is_some_and(|plateau| plateau > 0.0);
    if !finding.steps.is_empty() {
        if is_known || finding.broke.is_some() {
            text.push('\n');
        }
        let request = &finding.request;
        let mut figure = |name: &str, value: &str| {
            let dots = ".".repeat(12_usize.saturating_sub(name.len()));
            let _ = writeln!(text, "  {name} {dots} {value}");
        };
        if let Some(held) = finding.held {
            let how = if finding.is_confirmed { ", and for longer" } else { "" };
            figure("held", &format!("{}{how}", request.load(held)));
        }
        if let Some(broke) = finding.broke {
            let why = finding
                .steps
                .iter()
                .find(|step| step.broke() && step.trial.load.total_cmp(&broke).is_eq());
            let why = match why.map(|step| &step.outcome) {
                Some(Outcome::Broke(why)) => format!(": {why}"),
                _ => String::new(),
            };
            figure("broke", &format!("{}{why}", request.load(broke)));
        }
        if let Some((limit, part)) = finding.limit.zip(finding.uncertainty()) {
            let part = (part * 100.0).round().max(1.0);
            figure(
                "limit",
                &format!(
                    "about {}, give or take {part} %: from all steps together",
                    request.load(limit.load)
                ),
            );
        }
        if let Some(plateau) = finding.plateau_text().filter(|_| is_known) {
            figure("plateau", &plateau);
        }
        match finding.knee {
            Some(knee) => figure(
                "knee",
                &format!(
                    "{}: from there on latency is more than half above the lowest step's",
                    request.load(knee)
                ),
            ),
            None if finding.steps.len() < 2 => {}
            None => figure("knee", "none: latency does not rise with the load"),
        }
        for note in finding.notes() {
            let _ = write!(text, "\n{}", wrapped(&sentence(&note), width));
        }
        text.push('\n');
        text.push_str(&table(finding, width, color));
    }
    text
}

/// A text in lines of at most this many columns, but for longer words, behind two blanks.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::from(" ");
    let mut column = 1;
    for word in text.split(' ') {
        let columns = word.chars().count() + 1;
        if column + columns > width && column > 1 {
            lines.push_str("\n ");
            column = 1;
        }
        lines.push(' ');
        lines.push_str(word);
        column += columns;
    }
    lines.push('\n');
    lines
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect::<String>() + "."
    })
}

/// All steps, by load, with a bar for good answers and one for latency.
fn table(finding: &Finding, width: usize, color: bool) -> String {
    let mut steps: Vec<&Step> = finding.steps.iter().collect();
    steps.sort_by(|a, b| a.trial.load.total_cmp(&b.trial.load));
    let best = steps.iter().map(|step| step.measured.good).fold(0.0, f64::max);
    let slowest = steps.iter().filter_map(|step| step.measured.latency_ms).fold(0.0, f64::max);
    // Without bars a row takes some 62 columns.
    let bar = if width >= 62 + 2 * BAR { BAR } else { 0 };
    let (paint, plain) = if color { (true, "\x1b[0m") } else { (false, "") };
    let mut text = String::new();
    let gap = " ".repeat(bar);
    let head = format!(
        "  {:>10}  {:>8} {gap}  {:>7}  {:>9} {gap}  ",
        "load", "good/s", "failed", "latency"
    );
    let _ = writeln!(text, "{}", head.trim_end());
    for step in steps {
        let measured = &step.measured;
        let tint = match step.outcome {
            _ if !paint => "",
            Outcome::Held => "\x1b[32m",
            Outcome::Broke(_) => "\x1b[31m",
            _ => "\x1b[33m",
        };
        let mark = match &step.outcome {
            Outcome::Held if finding.is_limit(step) => "✓ limit",
            Outcome::Held => "✓",
            Outcome::Broke(_) => "✗",
            Outcome::Generator(_) => "? generator",
            Outcome::Unmeasured(_) => "? no values",
        };
        let latency = measured.latency_ms;
        let row = format!(
            "  {:>10}  {:>8} {}  {:>7}  {:>9} {}  {tint}{mark}{plain}",
            finding.request.load(step.trial.load),
            number(measured.good),
            drawn(measured.good, best, bar),
            failed(step),
            latency.map_or_else(|| "-".to_owned(), milliseconds),
            drawn(latency.unwrap_or(0.0), slowest, bar),
        );
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text
}

/// A bar of at most `columns`, filled up with blanks.
fn drawn(value: f64, most: f64, columns: usize) -> String {
    let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * (columns * 8) as f64).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if let Some(rest) = (eighths % 8).checked_sub(1) {
        bar.push(EIGHTHS[rest]);
    }
    let used = bar.chars().count();
    bar + &" ".repeat(columns.saturating_sub(used))
}

fn failed(step: &Step) -> String {
    let measured = &step.measured;
    let all = measured.good + measured.failed;
    if measured.failed <= 0.0 || all <= 0.0 {
        return "0 %".to_owned();
    }
    format!("{} %", number(measured.failed / all * 100.0))
}

fn milliseconds(ms: f64) -> String {
    if ms >= 1000.0 { format!("{} s", number(ms / 1000.0)) } else { format!("{} ms", number(ms)) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use brunt_find::{Bounds, Measured, Next, Search};

    use super::*;
    use crate::find::Form;

    fn request() -> Request {
        Request {
            goals: Vec::new(),
            by_vus: false,
            from: 10.0,
            max: 5000.0,
            hold: Duration::from_secs(20),
            recovery: Duration::from_mins(1),
            precision: 0.05,
            steps_max: 30,
            vus_max: 100,
            form: Form::Terminal,
        }
    }

    fn finding() -> Finding {
        let request = request();
        let bounds = Bounds {
            from: 10.0,
            least: 1.0,
            max: 5000.0,
            precision: 0.05,
            is_whole: false,
            steps_max: 30,
        };
        let mut search = Search::new(bounds);
        let end = loop {
            let trial = match search.next() {
                Next::Hold(trial) => trial,
                Next::End(end) => break end,
            };
            let good = trial.load.min(400.0);
            let latency = if trial.load < 400.0 { 12.0 } else { 1500.0 };
            let measured = Measured {
                good,
                failed: trial.load - good,
                finished: trial.load,
                latency_ms: Some(latency),
                ..Measured::default()
            };
            let outcome = if trial.load < 400.0 {
                Outcome::Held
            } else {
                Outcome::Broke("http_req_duration p(95)<200: 1500 ms".to_owned())
            };
            search.take(Step { trial, measured, outcome });
        };
        Finding::new(&request, &[], &search, end)
    }

    #[test]
    fn the_result_is_a_sentence_figures_and_a_table() {
        let text = result(&finding(), 100, false);
        for line in [
            "\nIt bears 394/s: 394/s held, 412/s broke.\n",
            "  held ........ 394/s, and for longer\n",
            "  broke ....... 412/s: http_req_duration p(95)<200: 1500 ms\n",
            "  plateau ..... 400 good answers/s\n",
            "  limit ....... about ",
            "  knee ........ 412/s: from there on",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let rows: Vec<&str> = text.lines().filter(|line| line.contains('█')).collect();
        assert!(rows.len() >= 6, "{text}");
        let last = rows.last().expect("a row");
        assert!(last.contains("37.5 %") && last.contains("1.5 s") && last.ends_with('✗'), "{last}");
    }

    #[test]
    fn a_narrow_terminal_gets_no_bars() {
        let text = result(&finding(), 60, false);
        assert!(!text.contains('█') && text.contains("✓ limit"));
    }

    #[test]
    fn bars_have_eighths() {
        assert_eq!(
            [drawn(1.0, 1.0, 2), drawn(0.5, 1.0, 2), drawn(0.06, 1.0, 2)],
            ["██", "█ ", "▏ "]
        );
        assert_eq!(drawn(1.0, 0.0, 2), "  ");
    }
}
