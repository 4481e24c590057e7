//! Types of messages as tables: what translating needs of a descriptor, looked up once.

use prost_reflect::{Cardinality, DescriptorPool, FieldDescriptor, MessageDescriptor, Syntax};
use rustc_hash::FxHashMap;

/// The place of a message type in [`Types`].
pub(crate) type MessageId = usize;

/// All types of a schema.
#[derive(Debug, Default)]
pub(crate) struct Types {
    pub(crate) messages: Vec<MessageType>,
    enums: Vec<EnumType>,
    by_name: FxHashMap<Box<str>, MessageId>,
}

/// A message type.
#[derive(Debug)]
pub(crate) struct MessageType {
    pub(crate) name: Box<str>,
    pub(crate) known: Option<Known>,
    /// In the order of the file, which is that of the JSON.
    pub(crate) fields: Vec<Field>,
    /// By either name.
    by_name: FxHashMap<Box<str>, u16>,
    /// Sorted.
    by_number: Vec<(u32, u16)>,
    /// Names of its oneofs.
    pub(crate) oneofs: Vec<Box<str>>,
}

/// A field of a message type.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) number: u32,
    pub(crate) name: Box<str>,
    pub(crate) json_name: Box<str>,
    pub(crate) kind: Kind,
    pub(crate) shape: Shape,
    pub(crate) is_packed: bool,
    /// Index of its oneof, also of the one that `optional` makes.
    pub(crate) oneof: Option<u16>,
    /// A value of zero is the same as none.
    pub(crate) is_implicit: bool,
    /// Its value in the JSON if there is none.
    pub(crate) absent: Absent,
}

/// How many values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Single,
    List,
    /// The kind is the message of an entry: key and value.
    Map,
}

/// The JSON of a field that has no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// Nothing, not even its name.
    Omitted,
    /// This JSON.
    Text(Box<str>),
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Double,
    Float,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Bool,
    String,
    Bytes,
    Enum(usize),
    Message(MessageId),
    Group(MessageId),
}

/// An enum.
#[derive(Debug)]
pub(crate) struct EnumType {
    values: Vec<(i32, Box<str>)>,
    /// `google.protobuf.NullValue`, which is `null`.
    pub(crate) is_null: bool,
}

/// Messages whose JSON is not what their fields say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Any,
    Duration,
    Empty,
    FieldMask,
    ListValue,
    Struct,
    Timestamp,
    Value,
    /// Messages with one field around a scalar.
    Wrapper,
}

impl Types {
    /// The tables of a pool.
    pub(crate) fn of(pool: &DescriptorPool) -> Self {
        let mut types = Self::default();
        let mut enums = FxHashMap::default();
        for descriptor in pool.all_enums() {
            let values = descriptor.values().map(|value| (value.number(), value.name().into()));
            enums.insert(descriptor.full_name().to_owned(), types.enums.len());
            types.enums.push(EnumType {
                values: values.collect(),
                is_null: descriptor.full_name() == "google.protobuf.NullValue",
            });
        }
        let all: Vec<MessageDescriptor> = pool.all_messages().collect();
        for (id, descriptor) in all.iter().enumerate() {
            types.by_name.insert(descriptor.full_name().into(), id);
        }
        for descriptor in &all {
            let message = types.message(descriptor, &enums);
            types.messages.push(message);
        }
        types
    }

    /// The type of this full name.
    pub(crate) fn find(&self, name: &str) -> Option<MessageId> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn enumeration(&self, id: usize) -> &EnumType {
        &self.enums[id]
    }

    fn message(
        &self,
        descriptor: &MessageDescriptor,
        enums: &FxHashMap<String, usize>,
    ) -> MessageType {
        // `fields()` goes by number; the file's order is that of the plain description.
        let mut order = FxHashMap::default();
        for (index, field) in descriptor.descriptor_proto().field.iter().enumerate() {
            order.insert(field.number(), index);
        }
        let mut described: Vec<FieldDescriptor> = descriptor.fields().collect();
        described.sort_by_key(|field| order.get(&(field.number() as i32)).copied());
        let oneofs: Vec<_> = descriptor.oneofs().map(|oneof| oneof.name().into()).collect();
        let fields: Vec<_> =
            described.iter().map(|field| self.field(field, &oneofs, enums)).collect();
        let mut by_name = FxHashMap::default();
        let mut by_number = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            let index = index as u16;
            by_name.insert(field.name.clone(), index);
            by_number.push((field.number, index));
        }
        for (index, field) in fields.iter().enumerate() {
            by_name.insert(field.json_name.clone(), index as u16);
        }
        by_number.sort_unstable();
        let name: Box<str> = descriptor.full_name().into();
        MessageType {
            known: Known::of(&name, fields.len()),
            name,
            fields,
            by_name,
            by_number,
            oneofs,
        }
    }

    fn field(
        &self,
        field: &FieldDescriptor,
        oneofs: &[Box<str>],
        enums: &FxHashMap<String, usize>,
    ) -> Field {
        let message = |descriptor: MessageDescriptor| {
            self.find(descriptor.full_name()).expect("a pool holds the types of its fields")
        };
        let kind = match field.kind() {
            prost_reflect::Kind::Double => Kind::Double,
            prost_reflect::Kind::Float => Kind::Float,
            prost_reflect::Kind::Int32 => Kind::Int32,
            prost_reflect::Kind::Int64 => Kind::Int64,
            prost_reflect::Kind::Uint32 => Kind::Uint32,
            prost_reflect::Kind::Uint64 => Kind::Uint64,
            prost_reflect::Kind::Sint32 => Kind::Sint32,
            prost_reflect::Kind::Sint64 => Kind::Sint64,
            prost_reflect::Kind::Fixed32 => Kind::Fixed32,
            prost_reflect::Kind::Fixed64 => Kind::Fixed64,
            prost_reflect::Kind::Sfixed32 => Kind::Sfixed32,
            prost_reflect::Kind::Sfixed64 => Kind::Sfixed64,
            prost_reflect::Kind::Bool => Kind::Bool,
            prost_reflect::Kind::String => Kind::String,
            prost_reflect::Kind::Bytes => Kind::Bytes,
            prost_reflect::Kind::Enum(descriptor) => {
                let id = enums.get(descriptor.full_name());
                Kind::Enum(*id.expect("a pool holds the enums of its fields"))
            }
            prost_reflect::Kind::Message(descriptor) if field.is_group() => {
                Kind::Group(message(descriptor))
            }
            prost_reflect::Kind::Message(descriptor) => Kind::Message(message(descriptor)),
        };
        let shape = if field.is_map() {
            Shape::Map
        } else if field.cardinality() == Cardinality::Repeated {
            Shape::List
        } else {
            Shape::Single
        };
        let oneof = field.containing_oneof().and_then(|oneof| {
            let index = oneofs.iter().position(|name| **name == *oneof.name())?;
            Some(index as u16)
        });
        let is_proto2 = field.parent_file().syntax() == Syntax::Proto2;
        let is_message = matches!(kind, Kind::Message(_) | Kind::Group(_));
        let text = |text: &str| Absent::Text(text.into());
        let absent = match (shape, oneof) {
            (Shape::List, _) => text("[]"),
            (Shape::Map, _) => text("{}"),
            (Shape::Single, Some(_)) => Absent::Omitted,
            (Shape::Single, None) if is_message || is_proto2 => text("null"),
            (Shape::Single, None) => Absent::Text(self.zero(kind)),
        };
        Field {
            number: field.number(),
            name: field.name().into(),
            json_name: field.json_name().into(),
            kind,
            shape,
            is_packed: field.is_packed(),
            oneof,
            is_implicit: shape == Shape::Single && oneof.is_none() && !is_message && !is_proto2,
            absent,
        }
    }

    /// The JSON of a scalar that was not set.
    fn zero(&self, kind: Kind) -> Box<str> {
        match kind {
            Kind::Bool => "false".into(),
            Kind::String | Kind::Bytes => "\"\"".into(),
            Kind::Int64 | Kind::Uint64 | Kind::Sint64 | Kind::Fixed64 | Kind::Sfixed64 => {
                "\"0\"".into()
            }
            Kind::Enum(id) => {
                let mut text = String::new();
                self.enums[id].write_json(0, &mut text);
                text.into()
            }
            _ => "0".into(),
        }
    }
}

impl MessageType {
    /// The field of this name, its own or that of JSON.
    pub(crate) fn by_name(&self, name: &str) -> Option<(u16, &Field)> {
        let index = *self.by_name.get(name)?;
        Some((index, &self.fields[usize::from(index)]))
    }

    /// The index of the field with this number.
    pub(crate) fn by_number(&self, number: u32) -> Option<u16> {
        // Mostly, fields are numbered from 1 on.
        if let Some(&(known, index)) = self.by_number.get((number as usize).wrapping_sub(1))
            && known == number
        {
            return Some(index);
        }
        let place = self.by_number.binary_search_by_key(&number, |entry| entry.0).ok()?;
        Some(self.by_number[place].1)
    }
}

impl EnumType {
    pub(crate) fn number(&self, name: &str) -> Option<i32> {
        self.values.iter().find(|value| *value.1 == *name).map(|value| value.0)
    }

    /// The name of a number, or the number itself if it has none.
    pub(crate) fn write_json(&self, number: i32, out: &mut String) {
        use std::fmt::Write as _;
        if self.is_null {
            out.push_str("null");
            return;
        }
        // Writing to a string cannot fail.
        let _ = match self.values.iter().find(|value| value.0 == number) {
            Some((_, name)) => write!(out, "\"{name}\""),
            None => write!(out, "{number}"),
        };
    }
}

impl Known {
    /// A server's reflection may call anything so: what has other fields than Google's is a message like others.
    fn of(name: &str, fields: usize) -> Option<Self> {
        let known = Self::named(name)?;
        let expected = match known {
            Self::Empty => 0,
            Self::Any | Self::Duration | Self::Timestamp => 2,
            Self::FieldMask | Self::ListValue | Self::Struct | Self::Wrapper => 1,
            Self::Value => 6,
        };
        (fields == expected).then_some(known)
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("google.protobuf.")? {
            "Any" => Self::Any,
            "Duration" => Self::Duration,
            "Empty" => Self::Empty,
            "FieldMask" => Self::FieldMask,
            "ListValue" => Self::ListValue,
            "Struct" => Self::Struct,
            "Timestamp" => Self::Timestamp,
            "Value" => Self::Value,
            "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value"
            | "UInt32Value" | "BoolValue" | "StringValue" | "BytesValue" => Self::Wrapper,
            _ => return None,
        })
    }
}

impl Kind {
    /// The name of the type in a `.proto` file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::Float => "float",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
            Self::Sint32 => "sint32",
            Self::Sint64 => "sint64",
            Self::Fixed32 => "fixed32",
            Self::Fixed64 => "fixed64",
            Self::Sfixed32 => "sfixed32",
            Self::Sfixed64 => "sfixed64",
            Self::Bool => "bool",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Enum(_) => "enum",
            Self::Message(_) => "message",
            Self::Group(_) => "group",
        }
    }
}
