//! The functions at the foot of a script: those that it calls, and no other.

use std::collections::BTreeSet;

/// A function of the script.
struct Function {
    name: &'static str,
    /// Its functions and imports: `import:NAME`.
    needs: &'static [&'static str],
    text: &'static str,
}

/// The needs of a script: functions by name, imports as `import:NAME`.
#[derive(Debug, Default)]
pub(crate) struct Needs(BTreeSet<&'static str>);

/// Imports by what they bring, in the order of the script.
const IMPORTS: &[(&str, &str)] = &[
    ("http", "import http from 'k6/http';"),
    ("crypto", "import crypto from 'k6/crypto';"),
    ("SharedArray", "import { SharedArray } from 'k6/data';"),
    ("encoding", "import encoding from 'k6/encoding';"),
    ("exec", "import exec from 'k6/execution';"),
    ("parseHTML", "import { parseHTML } from 'k6/html';"),
    ("secrets", "import secrets from 'k6/secrets';"),
    ("WebSocket", "import { WebSocket } from 'k6/websockets';"),
];

const FUNCTIONS: &[Function] = &[
    Function { name: "think", needs: &["import:sleep"], text: include_str!("functions/think.js") },
    Function {
        name: "found",
        needs: &["import:check", "import:fail"],
        text: include_str!("functions/found.js"),
    },
    Function {
        name: "formFields",
        needs: &["found"],
        text: include_str!("functions/formFields.js"),
    },
    Function { name: "without", needs: &[], text: include_str!("functions/without.js") },
    Function {
        name: "multipart",
        needs: &["randomText"],
        text: include_str!("functions/multipart.js"),
    },
    Function { name: "later", needs: &[], text: include_str!("functions/later.js") },
    Function { name: "update", needs: &[], text: include_str!("functions/update.js") },
    Function { name: "between", needs: &[], text: include_str!("functions/between.js") },
    Function { name: "parameter", needs: &[], text: include_str!("functions/parameter.js") },
    Function { name: "segment", needs: &[], text: include_str!("functions/segment.js") },
    Function { name: "absolute", needs: &[], text: include_str!("functions/absolute.js") },
    Function {
        name: "numbersAsText",
        needs: &[],
        text: include_str!("functions/numbersAsText.js"),
    },
    Function {
        name: "unescapeHtml",
        needs: &["import:parseHTML"],
        text: include_str!("functions/unescapeHtml.js"),
    },
    Function { name: "uuid", needs: &[], text: include_str!("functions/uuid.js") },
    Function { name: "randomText", needs: &[], text: include_str!("functions/randomText.js") },
    Function { name: "events", needs: &[], text: include_str!("functions/events.js") },
    Function { name: "eventData", needs: &[], text: include_str!("functions/eventData.js") },
];

impl Needs {
    /// The script calls this function, or uses this import (`import:NAME`).
    pub(crate) fn add(&mut self, name: &'static str) {
        if self.0.insert(name) {
            let function = FUNCTIONS.iter().find(|function| function.name == name);
            for needed in function.map_or(&[] as &[_], |function| function.needs) {
                self.add(needed);
            }
        }
    }

    /// Whether it does.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// The lines of imports.
    pub(crate) fn imports(&self) -> String {
        let mut k6: Vec<&str> = ["check", "fail", "group", "sleep"].into_iter().collect();
        k6.retain(|name| self.has(&format!("import:{name}")));
        let mut lines = Vec::new();
        if !k6.is_empty() {
            lines.push(format!("import {{ {} }} from 'k6';", k6.join(", ")));
        }
        let used = IMPORTS.iter().filter(|(name, _)| self.has(&format!("import:{name}")));
        lines.extend(used.map(|(_, line)| (*line).to_owned()));
        lines.join("\n")
    }

    /// The functions.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &'static str> {
        FUNCTIONS
            .iter()
            .filter(|function| self.has(function.name))
            .map(|function| function.text.trim_end())
    }
}
