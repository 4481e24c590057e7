//! The result for programs, and for the page.

use brunt_find::{Outcome, Purpose, Step};
use serde_json::{Value, json};

use super::Finding;

impl Finding {
    /// One JSON document.
    pub(crate) fn json(&self) -> Value {
        let request = &self.request;
        let steps: Vec<Value> =
            self.steps.iter().enumerate().map(|(index, step)| self.step(index, step)).collect();
        json!({
            "outcome": self.word(),
            "text": self.headline(),
            "exitCode": self.exit().code(),
            "unit": if request.by_vus { "VUs" } else { "iterations/s" },
            "held": self.held,
            "broke": self.broke,
            "confirmed": self.is_confirmed,
            "limit": self.limit.map(|limit| limit.load),
            "uncertainty": self.uncertainty(),
            "notes": self.notes(),
            "plateau": self.plateau,
            "knee": self.knee,
            "goals": self.goals,
            "from": request.from,
            "max": request.max,
            "holdSeconds": request.hold.as_secs_f64(),
            "precision": request.precision,
            "steps": steps,
        })
    }

    /// The same as text.
    pub(super) fn json_text(&self) -> String {
        let text = serde_json::to_string_pretty(&self.json());
        text.expect("a JSON value can be printed") + "\n"
    }

    fn step(&self, index: usize, step: &Step) -> Value {
        let measured = &step.measured;
        let (outcome, reason) = match &step.outcome {
            Outcome::Held => ("held", None),
            Outcome::Broke(why) => ("broke", Some(why)),
            Outcome::Generator(why) => ("generator", Some(why)),
            Outcome::Unmeasured(goal) => ("unmeasured", Some(goal)),
        };
        let goals: Vec<Value> = measured
            .goals
            .iter()
            .map(|goal| {
                json!({
                    "goal": goal.name, "value": goal.value, "holds": goal.holds, "spread": goal.spread,
                })
            })
            .collect();
        let stretch = self.stretches.get(index);
        json!({
            "load": step.trial.load,
            "purpose": match step.trial.purpose {
                Purpose::Climb => "climb",
                Purpose::Descend => "descend",
                Purpose::Narrow => "narrow",
                Purpose::Confirm => "confirm",
            },
            "outcome": outcome,
            "reason": reason,
            "from": stretch.map(|stretch| stretch.0),
            "to": stretch.map(|stretch| stretch.1),
            "recovered": !self.slow.contains(&index),
            "due": measured.due,
            "finished": measured.finished,
            "good": measured.good,
            "failed": measured.failed,
            "dropped": measured.dropped,
            "latencyMs": measured.latency_ms,
            "medianMs": measured.median_ms,
            "vus": measured.vus,
            "seconds": measured.seconds,
            "lateMs": measured.late_ms,
            "goals": goals,
        })
    }
}
