//! One log line, before it is formatted.

use std::time::SystemTime;

use brunt_secrets::Redactor;
use log::{
    Level, Record,
    kv::{Key, Value, VisitSource, VisitValue},
};

use crate::secrets;

/// A log record, owned, so that the caller can go on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) at: SystemTime,
    pub(super) level: Level,
    pub(super) message: String,
    /// It belongs with the log, whoever said it.
    pub(super) of_init: bool,
    /// Sorted by name.
    pub(super) fields: Vec<(String, Field)>,
    /// How often more than once it was said, if this line tells that (then there is a field `count`, too).
    pub(super) more: u64,
}

/// A field's value, as JSON will print it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field {
    Text(String),
    Number(serde_json::Number),
    Bool(bool),
}

impl Entry {
    pub(super) fn from_record(record: &Record) -> Self {
        let mut fields = Fields(Vec::new());
        // `Fields` never refuses a value.
        let _ = record.key_values().visit(&mut fields);
        fields.0.sort_by(|a, b| a.0.cmp(&b.0));
        Self {
            at: SystemTime::now(),
            level: record.level(),
            message: record.args().to_string(),
            of_init: record.target().ends_with("::init"),
            fields: fields.0,
            more: 0,
        }
    }

    /// Whether only the moment differs.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        (self.level, &self.message, &self.fields) == (other.level, &other.message, &other.fields)
    }

    /// Takes secrets out of the message and the fields.
    pub(super) fn redact(&mut self, redactor: &Redactor) {
        secrets::redact(redactor, &mut self.message);
        for (_, value) in &mut self.fields {
            if let Field::Text(text) = value {
                secrets::redact(redactor, text);
            }
        }
    }

    /// Tells what is no error without that word, but for the words of scripts and files.
    pub(super) fn soften(&mut self) {
        if self.is_console() {
            return;
        }
        for (name, value) in &mut self.fields {
            if name == "error" {
                "reason".clone_into(name);
            }
            if let Field::Text(text) = value {
                *text = text.replace("(os error ", "(code ");
            }
        }
        self.message = self.message.replace("(os error ", "(code ");
        self.fields.sort_by(|a, b| a.0.cmp(&b.0));
    }

    /// About how many bytes it takes in the queue.
    pub(super) fn size(&self) -> usize {
        let fields = self.fields.iter().map(|(name, value)| {
            64 + name.len() + if let Field::Text(text) = value { text.len() } else { 0 }
        });
        128 + self.message.len() + fields.sum::<usize>()
    }

    /// The script said it.
    pub(super) fn is_console(&self) -> bool {
        self.fields
            .iter()
            .any(|(name, value)| name == "source" && *value == Field::Text("console".to_owned()))
    }
}

impl Field {
    /// As logfmt prints it, before quoting.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Bool(value) => value.to_string(),
        }
    }

    pub(super) fn json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.clone().into(),
            Self::Number(number) => number.clone().into(),
            Self::Bool(value) => (*value).into(),
        }
    }
}

struct Fields(Vec<(String, Field)>);

impl<'kvs> VisitSource<'kvs> for Fields {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), log::kv::Error> {
        let mut reader = Reader(Field::Text(String::new()));
        value.visit(&mut reader)?;
        self.0.push((key.as_str().to_owned(), reader.0));
        Ok(())
    }
}

struct Reader(Field);

impl VisitValue<'_> for Reader {
    fn visit_any(&mut self, value: Value) -> Result<(), log::kv::Error> {
        self.0 = Field::Text(value.to_string());
        Ok(())
    }

    fn visit_u64(&mut self, value: u64) -> Result<(), log::kv::Error> {
        self.0 = Field::Number(value.into());
        Ok(())
    }

    fn visit_i64(&mut self, value: i64) -> Result<(), log::kv::Error> {
        self.0 = Field::Number(value.into());
        Ok(())
    }

    fn visit_f64(&mut self, value: f64) -> Result<(), log::kv::Error> {
        self.0 = serde_json::Number::from_f64(value)
            .map_or_else(|| Field::Text(value.to_string()), Field::Number);
        Ok(())
    }

    fn visit_bool(&mut self, value: bool) -> Result<(), log::kv::Error> {
        self.0 = Field::Bool(value);
        Ok(())
    }

    fn visit_str(&mut self, value: &str) -> Result<(), log::kv::Error> {
        self.0 = Field::Text(value.to_owned());
        Ok(())
    }
}
