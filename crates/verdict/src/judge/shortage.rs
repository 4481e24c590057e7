//! Did files, ports or memory run out?

use super::Draft;
use crate::finding::{Finding, Level};
use crate::history::History;
use crate::span::Span;
use crate::words::{mebibytes, percent};

/// One of the three.
struct Resource<'a> {
    name: &'static str,
    /// Errors that requests met.
    errors: u64,
    short: &'a Span,
    /// Near the limit.
    near: &'a Span,
    /// The most, and the limit.
    most: (u64, u64),
    words: String,
    error: &'static str,
    advice: &'static str,
}

pub(super) fn judge(history: &History, findings: &mut Vec<Finding>) {
    let (files, ports, memory) = (history.files_most, history.ports_most, history.memory_most);
    // The same error tells that an address is none of this machine, as ::1 where there is no IPv6: then ports are left.
    let has_no_address = ports.1 > 0 && history.ports_kept < ports.1 / 2;
    let resources = [
        Resource {
            name: "out-of-files",
            errors: history.shortages.files,
            short: &history.short[0],
            near: &history.files,
            most: files,
            words: format!("{} of {} open files", files.0, files.1),
            error: "too many open files (EMFILE, ENFILE)",
            advice: "a higher limit of open files (ulimit -n), fewer VUs, connections that are used again",
        },
        Resource {
            name: "out-of-ports",
            errors: if has_no_address { 0 } else { history.shortages.ports },
            short: &history.short[1],
            near: &history.ports,
            most: ports,
            words: format!(
                "{} sockets for {} local ports",
                history.ports_kept.max(ports.0),
                ports.1
            ),
            error: "no local port (EADDRNOTAVAIL)",
            advice: "connections that are used again, a wider net.ipv4.ip_local_port_range, more addresses (--local-ips)",
        },
        Resource {
            name: "out-of-memory",
            errors: history.shortages.memory,
            short: &history.short[2],
            near: &history.memory,
            most: memory,
            words: format!("{} of {} of memory", mebibytes(memory.0), mebibytes(memory.1)),
            error: "no memory (ENOBUFS, ENOMEM)",
            advice: "more memory, fewer VUs, discardResponseBodies, a lower --max-body-memory",
        },
    ];
    findings.extend(resources.iter().filter_map(|resource| resource.judge(history)));
}

impl Resource<'_> {
    fn judge(&self, history: &History) -> Option<Finding> {
        let part = self.most.0 as f64 / (self.most.1 as f64).max(1.0);
        let (level, span, evidence, touches) = if self.errors > 0 {
            let most = match self.most.1 {
                0 => String::new(),
                _ => format!("; at most {}", self.words),
            };
            let evidence = format!("{} requests met \"{}\"{most}", self.errors, self.error);
            let touches = "failures and rates: these requests never reached the target";
            (Level::Invalid, self.short, evidence, touches)
        } else if self.near.looks > 0 {
            let evidence = format!("at most {}: {} of the limit", self.words, percent(part));
            (
                Level::Doubtful,
                self.near,
                evidence,
                "nothing yet: a little more load would fail here",
            )
        } else {
            return None;
        };
        let values = vec![
            ("errors", self.errors as f64),
            ("most", self.most.0 as f64),
            ("limit", self.most.1 as f64),
        ];
        let draft =
            Draft { name: self.name, level, evidence, values, touches, advice: self.advice };
        Some(draft.of(history, Some(span)))
    }
}
