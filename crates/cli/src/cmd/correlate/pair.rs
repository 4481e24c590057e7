//! Two recordings of one journey: which values differ between their users, and where each comes from.

use brunt_correlate::{Difference, Explanation};
use brunt_traffic::Recording;
use serde_json::{Value, json};

use super::plan::{Told, of_kind, of_place, of_source, pieces};

/// Two recordings, and how they differ.
pub(super) struct Pair<'a> {
    /// The first, with its plan.
    pub(super) told: &'a Told<'a>,
    pub(super) second: &'a Recording,
    pub(super) differences: &'a [Difference],
}

impl Pair<'_> {
    /// For people.
    pub(super) fn text(&self, color: bool) -> String {
        let paint = |code: &str, text: &str| {
            if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
        };
        let mut out = String::new();
        let mut add = |line: &str| {
            out.push_str(line);
            out.push('\n');
        };
        let (explained, unexplained): (Vec<&Difference>, Vec<&Difference>) =
            self.differences.iter().partition(|one| one.explained.is_some());
        add(&format!(
            "{} and {} requests; {} values differ, {} unexplained",
            self.told.recording.exchanges.len(),
            self.second.exchanges.len(),
            self.differences.len(),
            unexplained.len()
        ));
        if !explained.is_empty() {
            add(&paint("1", "Differ, and the script renews them"));
        }
        let mut request = None;
        for one in &explained {
            if request != Some(one.a) {
                request = Some(one.a);
                add(&format!("  {}", self.told.exchange(one.a)));
            }
            let (what, from) = self.explained(one.explained);
            add(&format!("    {}: {what} {from}", paint("36", &named(one))));
        }
        if !unexplained.is_empty() {
            add(&paint(
                "1;31",
                "Differ, and nothing explains them: literals, wrong for another user",
            ));
        }
        for one in &unexplained {
            let other = self.second.exchanges.get(one.b).map_or(0, |exchange| exchange.number + 1);
            add(&format!(
                "  {}, {}: {} (request #{other} of the second)",
                self.told.exchange(one.a),
                of_place(&one.place),
                paint("31", &named(one)),
            ));
        }
        out
    }

    /// The way in which the plan renews a value: words for its kind, and where it comes from.
    fn explained(&self, explanation: Option<Explanation>) -> (&'static str, String) {
        let plan = self.told.plan;
        match explanation {
            Some(Explanation::Extraction(index)) => {
                let from = plan.extractions.get(index).map_or(String::new(), |one| {
                    format!("{} from {}", of_source(one.source()), self.told.exchange(one.exchange))
                });
                ("is taken:", from)
            }
            Some(Explanation::Form(index)) => {
                let from = plan.forms.get(index).map_or(String::new(), |one| {
                    format!("{} of {}", pieces(&one.selector), self.told.exchange(one.page))
                });
                ("comes with the form", from)
            }
            Some(Explanation::Made(index)) => {
                let kind = plan.made.get(index).map(|one| of_kind(&one.kind));
                ("is made:", kind.unwrap_or_default())
            }
            Some(Explanation::Input(index)) => {
                let name = plan.inputs.get(index).map(|one| one.name.clone());
                ("is typed: the column", name.unwrap_or_default())
            }
            Some(Explanation::Secret(index)) => {
                let name = plan.secrets.get(index).map(|one| one.name.clone());
                ("is a secret:", name.unwrap_or_default())
            }
            None => ("is a literal", String::new()),
        }
    }

    /// For programs.
    pub(super) fn json(&self) -> String {
        let number = |recording: &Recording, index: usize| {
            recording.exchanges.get(index).map(|exchange| exchange.number + 1)
        };
        let all = self.differences.iter().map(|one| {
            let kind = match one.explained {
                Some(Explanation::Extraction(_)) => Some("extraction"),
                Some(Explanation::Form(_)) => Some("form"),
                Some(Explanation::Made(_)) => Some("made"),
                Some(Explanation::Input(_)) => Some("input"),
                Some(Explanation::Secret(_)) => Some("secret"),
                None => None,
            };
            json!({
                "a": number(self.told.recording, one.a),
                "b": number(self.second, one.b),
                "name": one.name,
                "place": of_place(&one.place),
                "explained": kind,
                "source": kind.map(|_| self.explained(one.explained).1),
            })
        });
        let all: Vec<Value> = all.collect();
        let unexplained = self.differences.iter().filter(|one| one.explained.is_none()).count();
        let whole = json!({"differences": all, "unexplained": unexplained});
        let mut text = serde_json::to_string_pretty(&whole).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// The name of a value; its place, if it has none.
fn named(one: &Difference) -> String {
    if one.name.is_empty() { of_place(&one.place) } else { one.name.clone() }
}
