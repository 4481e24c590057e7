//! Whom we dial instead of whom the URL names (`connect_to`).

use std::cell::Cell;

use rustc_hash::FxHashMap;

use crate::settings::ConnectTo;

/// A host and a port.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
}

/// The detours of one core. Each core takes its own turns.
#[derive(Debug, Default)]
pub(crate) struct Detours {
    by_host: FxHashMap<Box<str>, Vec<Detour>>,
}

#[derive(Debug)]
struct Detour {
    port: u16,
    to: Vec<(String, u16)>,
    turn: Cell<usize>,
}

impl Detours {
    pub(crate) fn new(settings: &[ConnectTo]) -> Self {
        let mut detours = Self::default();
        for ConnectTo { from: (host, port), to } in settings.iter().filter(|it| !it.to.is_empty()) {
            let host = host.to_ascii_lowercase().into();
            let of_host = detours.by_host.entry(host).or_default();
            of_host.push(Detour { port: *port, to: to.clone(), turn: Cell::new(0) });
        }
        detours
    }

    /// Where `host:port` leads: to the next of its detours, or to itself.
    pub(crate) fn find<'a>(&'a self, host: &'a str, port: u16) -> Place<'a> {
        let itself = Place { host, port };
        if self.by_host.is_empty() {
            return itself;
        }
        let lower = host.to_ascii_lowercase();
        let Some(of_host) = self.by_host.get(lower.as_str()) else { return itself };
        let Some(detour) = of_host.iter().find(|detour| detour.port == port) else { return itself };
        let turn = detour.turn.get();
        detour.turn.set(turn.wrapping_add(1));
        let (host, port) = &detour.to[turn % detour.to.len()];
        Place { host, port: *port }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_take_turns_and_other_ports_go_straight() {
        let to = vec![("one.test".to_owned(), 1), ("two.test".to_owned(), 2)];
        let detours = Detours::new(&[ConnectTo { from: ("A.test".to_owned(), 80), to }]);
        let ports: Vec<_> = (0..3).map(|_| detours.find("a.TEST", 80).port).collect();
        assert_eq!(ports, [1, 2, 1]);
        assert_eq!(detours.find("a.test", 81), Place { host: "a.test", port: 81 });
        assert_eq!(detours.find("b.test", 80), Place { host: "b.test", port: 80 });
    }
}
