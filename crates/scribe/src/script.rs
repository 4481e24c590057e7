//! The whole script: head, options, data, the iteration, functions.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::code::{Entry, Expr, Printer, Statement};
use crate::request::headers_name;
use crate::session::{Item, Kind, Section};
use crate::text::{in_comment, key, quoted};
use crate::writer::Writer;
use crate::{Call, Content, Script};

/// Thresholds suggest no time below this.
const DURATION_MIN_MS: u64 = 500;

impl Writer<'_> {
    /// Writes all files.
    pub(crate) fn finish(mut self) -> Script {
        let body = self.iteration();
        let mut printer = Printer::default();
        let head = self.head(&body);
        printer.statements(&head, 0);
        let marks = std::mem::take(&mut printer.marks);
        let mut files =
            vec![(PathBuf::from("script.js"), Content::Bytes(printer.into_text().into_bytes()))];
        files.append(&mut self.files.all);
        if !self.plan.inputs.is_empty() {
            files.push((PathBuf::from("data.json"), Content::Bytes(self.data().into_bytes())));
        }
        if self.has_secrets() {
            files
                .push((PathBuf::from("secrets.env"), Content::Secret(self.secrets().into_bytes())));
            files.push((PathBuf::from(".gitignore"), Content::Bytes(b"secrets.env\n".to_vec())));
        }
        let calls = marks.into_iter().map(|(exchange, line)| Call { exchange, line });
        Script { files, calls: calls.collect(), notes: self.notes }
    }

    fn has_secrets(&self) -> bool {
        !self.variables.used_secrets.borrow().is_empty()
    }

    fn listens(&self) -> bool {
        self.session.sections.iter().any(|section| section.name.is_none())
    }

    /// The iteration of a user.
    fn iteration(&mut self) -> Vec<Statement> {
        let mut out = Vec::new();
        for section in std::mem::take(&mut self.session.sections) {
            out.push(Statement::Blank);
            let name = section.name.clone();
            let (before, inner) = self.section(&section);
            out.extend(before);
            match name {
                Some(name) => {
                    self.needs.add("import:group");
                    let name = self.variables.hidden(&name);
                    out.push(Statement::Block(
                        format!("group({}, () => {{", quoted(&name)),
                        inner,
                        "});".to_owned(),
                    ));
                }
                None => out.extend(inner),
            }
        }
        let mut head = Vec::new();
        if !self.plan.inputs.is_empty() {
            let row = "inputs[exec.scenario.iterationInTest % inputs.length]";
            self.needs.add("import:exec");
            self.needs.add("import:SharedArray");
            head.push(Statement::Line("const input = ".to_owned(), Expr::raw(row)));
        }
        let used: Vec<usize> = self.variables.used_secrets.borrow().iter().copied().collect();
        for index in used {
            self.needs.add("import:secrets");
            let mut call = format!("await secrets.get({})", quoted(&self.secret_key(index)));
            if has_lines(&self.plan.secrets[index].recorded) {
                head.push(Statement::Comment(
                    "In JSON, as a line of the file holds no line ends.".to_owned(),
                ));
                call = format!("JSON.parse({call})");
            }
            head.push(Statement::Line(
                format!("const {} = ", self.variables.secret(index)),
                Expr::raw(call),
            ));
        }
        if !self.variables.shared.is_empty() {
            head.push(Statement::Line(
                "let ".to_owned(),
                Expr::raw(self.variables.shared.join(", ")),
            ));
        }
        head.extend(out);
        head
    }

    /// The pause before a section is outside of its group: it is no part of what the group's duration measures.
    fn section(&mut self, section: &Section) -> (Vec<Statement>, Vec<Statement>) {
        let requests = section.items.iter().filter(|item| matches!(item, Item::Request(_))).count();
        let batches =
            section.items.iter().filter(|item| matches!(item, Item::Resources(_))).count();
        let (mut has_res, mut has_answers) = (false, false);
        let (mut before, mut out) = (Vec::new(), Vec::new());
        for (at, item) in section.items.iter().enumerate() {
            match item {
                Item::Pause(pause) => {
                    self.needs.add("think");
                    let statement = Statement::Line(
                        String::new(),
                        Expr::raw(format!("think({})", seconds(*pause))),
                    );
                    if at == 0 && section.name.is_some() {
                        before.push(statement);
                        before.push(Statement::Blank);
                    } else {
                        out.push(Statement::Blank);
                        out.push(statement);
                        out.push(Statement::Blank);
                    }
                }
                Item::Request(index) => {
                    out.push(Statement::Blank);
                    let setting = setting("res", requests, &mut has_res);
                    out.extend(self.request(*index, setting));
                }
                Item::Resources(all) => {
                    out.push(Statement::Blank);
                    let setting = setting("answers", batches, &mut has_answers);
                    out.extend(self.resources(all, setting));
                }
                Item::Listen(index) => out.extend(self.listen(*index)),
            }
        }
        (before, out)
    }

    /// All statements of the script; `body` is the iteration.
    fn head(&mut self, body: &[Statement]) -> Vec<Statement> {
        let mut out = self.header();
        out.push(Statement::Blank);
        out.push(Statement::Lines(self.needs.imports()));
        out.push(Statement::Blank);
        out.push(Statement::Lines(self.origins.declarations()));
        out.push(Statement::Blank);
        out.extend(self.options());
        out.extend(self.constants());
        out.push(Statement::Blank);
        let is_async = self.listens_or_waits(body);
        let head = if is_async {
            "export default async function () {"
        } else {
            "export default function () {"
        };
        out.push(Statement::Block(head.to_owned(), body.to_vec(), "}".to_owned()));
        for function in self.needs.functions() {
            out.push(Statement::Blank);
            out.push(Statement::Lines(function.to_owned()));
        }
        out
    }

    fn listens_or_waits(&self, body: &[Statement]) -> bool {
        let waits = |statement: &Statement| match statement {
            Statement::Block(head, ..) => head.starts_with("await "),
            Statement::Line(_, Expr::Marked(_, inner)) => {
                matches!(&**inner, Expr::Call(callee, _) if callee.starts_with("await "))
            }
            _ => false,
        };
        self.has_secrets() || self.listens() || body.iter().any(waits)
    }

    /// Where the script comes from and how to run it.
    fn header(&mut self) -> Vec<Statement> {
        let when = self.recording.began.map(brunt_moment::utc);
        let when =
            when.map(|text| format!(" on {}", text.get(..10).unwrap_or(&text))).unwrap_or_default();
        let origin = if self.recording.origin.is_empty() {
            "a recorded session"
        } else {
            &self.recording.origin
        };
        let origin = self.variables.hidden(&in_comment(origin));
        let mut text = vec![
            format!("Made from {origin}{when}."),
            String::new(),
            "  brunt run script.js".to_owned(),
        ];
        if self.has_secrets() {
            text.push("  k6 run --secret-source=file=secrets.env script.js".to_owned());
        } else {
            text.push("  k6 run script.js".to_owned());
        }
        let mut files = Vec::new();
        if !self.plan.inputs.is_empty() {
            files.push("data.json: texts that the user typed, a row for each user; add more rows");
        }
        if self.has_secrets() {
            files.push("secrets.env: passwords and keys; keep it to yourself");
        }
        if !self.files.declarations().is_empty() {
            files.push("bodies/: files that the user sent");
        }
        if !files.is_empty() {
            text.push(String::new());
            text.extend(files.iter().map(ToString::to_string));
        }
        vec![Statement::Comment(text.join("\n"))]
    }

    /// One user, once; a load profile in a comment.
    fn options(&self) -> Vec<Statement> {
        let limit = self.duration_limit();
        let has_batch = self.needs.has("import:http") && self.sends_resources();
        let batch = if has_batch {
            "  // As many connections as a browser opens to a server.\n  batchPerHost: 6,\n"
        } else {
            ""
        };
        let tls = if self.options.skip_tls_verify {
            "  // As it was recorded. Without it, name the servers' authority by the variable SSL_CERT_FILE.\n  insecureSkipTLSVerify: true,\n"
        } else {
            ""
        };
        let checks = if self.needs.has("import:check") { "    checks: ['rate==1'],\n" } else { "" };
        let text = format!(
            "export const options = {{
  vus: 1,
  iterations: 1,
{batch}{tls}  thresholds: {{
{checks}    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<{limit}'],
  }},
  // More users: put one of these in place of `vus` and `iterations`.
  //
  // Up to 20 users at the same time:
  // stages: [
  //   {{ duration: '1m', target: 20 }},
  //   {{ duration: '5m', target: 20 }},
  //   {{ duration: '1m', target: 0 }},
  // ],
  //
  // 2 users come each second, however long the others take:
  // scenarios: {{
  //   arrivals: {{ executor: 'constant-arrival-rate', rate: 2, timeUnit: '1s', duration: '5m', preAllocatedVUs: 100 }},
  // }},
}};"
        );
        vec![Statement::Lines(text)]
    }

    fn sends_resources(&self) -> bool {
        self.session.section_of.keys().any(|&index| self.session.kinds[index] == Kind::Resource)
    }

    /// Twice the recorded 95th percentile, rounded up.
    fn duration_limit(&self) -> u64 {
        let sent = self.session.section_of.keys();
        let is_timed = |index: &&usize| self.session.kinds[**index] != Kind::Socket;
        let mut all: Vec<u128> = sent
            .filter(is_timed)
            .map(|&index| {
                self.exchange(index).done.saturating_sub(self.exchange(index).sent).as_millis()
            })
            .collect();
        all.sort_unstable();
        let at = (all.len() * 95).div_ceil(100).saturating_sub(1);
        let wanted = all
            .get(at)
            .map_or(0, |ms| u64::try_from(*ms * 2).unwrap_or(u64::MAX))
            .max(DURATION_MIN_MS);
        let steps = (0..17).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
        steps.into_iter().find(|step| *step >= wanted).unwrap_or(wanted)
    }

    /// Headers, data and files.
    fn constants(&self) -> Vec<Statement> {
        let mut out = Vec::new();
        let mut constant = |comment: &str, line: Statement| {
            out.push(Statement::Blank);
            if !comment.is_empty() {
                out.push(Statement::Comment(comment.to_owned()));
            }
            out.push(line);
        };
        if self.needs.has("think") || self.needs.has("later") {
            constant(
                "1 is the user's own pace, 0 is without pauses.",
                Statement::Line("const PACE = ".to_owned(), Expr::raw("Number(__ENV.PACE || 1)")),
            );
        }
        let entries = |own: &BTreeMap<String, String>| {
            own.iter()
                .map(|(name, value)| Entry::Prop(key(name), Expr::raw(quoted(value))))
                .collect::<Vec<_>>()
        };
        if !self.common.all.is_empty() {
            constant(
                "",
                Statement::Line(
                    "const headers = ".to_owned(),
                    Expr::Object(entries(&self.common.all)),
                ),
            );
        }
        for (kind, own) in &self.common.kinds {
            if own.is_empty() {
                continue;
            }
            let shared =
                (!self.common.all.is_empty()).then(|| Entry::Short("...headers".to_owned()));
            let all = shared.into_iter().chain(entries(own)).collect();
            let name = headers_name(*kind);
            constant("", Statement::Line(format!("const {name} = "), Expr::Object(all)));
        }
        if !self.plan.inputs.is_empty() {
            let call = "new SharedArray('inputs', () => JSON.parse(open('./data.json')))";
            constant(
                "Each iteration takes a row.",
                Statement::Line("const inputs = ".to_owned(), Expr::raw(call)),
            );
        }
        let files = self.files.declarations();
        if !files.is_empty() {
            constant("", Statement::Lines(files.join("\n")));
        }
        out
    }

    fn data(&self) -> String {
        let row: serde_json::Map<String, serde_json::Value> = self
            .plan
            .inputs
            .iter()
            .enumerate()
            .map(|(index, input)| {
                (self.variables.input(index).to_owned(), input.recorded.clone().into())
            })
            .collect();
        let text = serde_json::to_string_pretty(&serde_json::Value::Array(vec![row.into()]));
        text.unwrap_or_default() + "\n"
    }

    /// The key of a secret in its file: without what divides keys from values.
    fn secret_key(&self, index: usize) -> String {
        let name = &self.plan.secrets[index].name;
        let plain =
            |char: char| if char.is_alphanumeric() || "-_.".contains(char) { char } else { '_' };
        let key: String = name.chars().map(plain).collect();
        let is_taken = self.plan.secrets[..index].iter().any(|own| own.name == *name);
        if is_taken || key.is_empty() { format!("{key}_{}", index + 1) } else { key }
    }

    fn secrets(&self) -> String {
        let used = self.variables.used_secrets.borrow();
        let line = |&index: &usize| {
            let text = &self.plan.secrets[index].recorded;
            let key = self.secret_key(index);
            if has_lines(text) {
                format!("{key}={}\n", serde_json::Value::from(text.as_str()))
            } else {
                format!("{key}={text}\n")
            }
        };
        used.iter().map(line).collect()
    }
}

/// Whether a secret does not fit into a line, as keys in PEM.
fn has_lines(secret: &str) -> bool {
    secret.contains(['\n', '\r'])
}

/// The begin of a statement that sets a variable which others may set again.
fn setting(name: &'static str, count: usize, has: &mut bool) -> &'static str {
    let is_first = !std::mem::replace(has, true);
    match (name, is_first, count) {
        ("res", true, 1) => "const res = ",
        ("res", true, _) => "let res = ",
        ("res", ..) => "res = ",
        (_, true, 1) => "const answers = ",
        (_, true, _) => "let answers = ",
        _ => "answers = ",
    }
}

/// `1.9`, to the hundredth below ten seconds.
pub(crate) fn seconds(pause: Duration) -> String {
    let seconds = pause.as_secs_f64();
    let text = if seconds < 10.0 { format!("{seconds:.2}") } else { format!("{seconds:.1}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
