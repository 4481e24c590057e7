//! The events of `text/event-stream`, as bytes come in.

/// An event: its type and its data.
pub(crate) type Event = (String, String);

/// A longer line or event is dropped.
const EVENT_MAX: usize = 1 << 20;

/// Reads a stream, however its bytes are split.
#[derive(Debug, Default)]
pub(crate) struct EventStream {
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed behind it ends no line of its own.
    was_return: bool,
    kind: String,
    data: String,
    has_data: bool,
    /// Whether something was too long.
    is_cut: bool,
}

impl EventStream {
    /// The events that these bytes end.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in bytes {
            let was_return = std::mem::replace(&mut self.was_return, byte == b'\r');
            match byte {
                b'\n' if was_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ if self.line.len() < EVENT_MAX => self.line.push(byte),
                _ => self.is_cut = true,
            }
        }
        events
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        if line.is_empty() {
            return self.end_event();
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut self.kind),
            "data" if self.data.len() + value.len() < EVENT_MAX => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            "data" => self.is_cut = true,
            _ => {}
        }
        None
    }

    /// Without data there is no event.
    fn end_event(&mut self) -> Option<Event> {
        let mut kind = std::mem::take(&mut self.kind);
        let data = std::mem::take(&mut self.data);
        let is_cut = std::mem::take(&mut self.is_cut);
        if !std::mem::take(&mut self.has_data) || is_cut {
            return None;
        }
        if kind.is_empty() {
            "message".clone_into(&mut kind);
        }
        Some((kind, data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_out_however_the_bytes_are_split() {
        let text = "\u{feff}: hello\ndata: a\r\ndata:b\r\n\r\nevent: tick\rdata\r\rid: 5\n\nevent:x\ndata: é\n\n";
        let expected = [("message", "a\nb"), ("tick", ""), ("x", "é")];
        for size in [1, 2, 3, 1000] {
            let mut stream = EventStream::default();
            let events: Vec<Event> =
                text.as_bytes().chunks(size).flat_map(|part| stream.push(part)).collect();
            let events: Vec<(&str, &str)> =
                events.iter().map(|(kind, data)| (kind.as_str(), data.as_str())).collect();
            assert_eq!(events, expected, "{size}");
        }
    }

    #[test]
    fn an_endless_line_holds_no_endless_memory() {
        let mut stream = EventStream::default();
        for _ in 0..100 {
            assert!(stream.push(&vec![b'a'; 64 * 1024]).is_empty());
        }
        assert!(stream.line.len() <= EVENT_MAX);
        assert!(stream.push(b"\n\n").is_empty());
        assert_eq!(stream.push(b"data: b\n\n"), [("message".to_owned(), "b".to_owned())]);
    }
}
