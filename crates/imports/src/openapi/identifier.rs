//! Names in TypeScript.

use std::collections::HashSet;

/// Names that a type must not have: globals and imports that the client uses, and itself.
const TYPES: [&str; 24] = [
    "Client",
    "Reply",
    "Call",
    "Credentials",
    "Params",
    "Response",
    "RequestBody",
    "FileData",
    "Record",
    "Omit",
    "Object",
    "Array",
    "ArrayBuffer",
    "String",
    "Number",
    "Boolean",
    "JSON",
    "Error",
    "Promise",
    "Date",
    "Symbol",
    "Function",
    "Map",
    "Infinity",
];

/// Names that a method must not have: members of the class and of every object.
const METHODS: [&str; 15] = [
    "constructor",
    "send",
    "authorize",
    "baseUrl",
    "params",
    "credentials",
    "prototype",
    "toString",
    "valueOf",
    "toLocaleString",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toJSON",
    "then",
];

/// Words that no variable may be called.
const RESERVED: [&str; 60] = [
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "async",
    "of",
    "open",
    "check",
    "group",
    "secrets",
    "data",
    "client",
    "options",
    "http",
    "Client",
];

/// Whether JavaScript takes it as a name without quotes.
pub(super) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    let is_start = |c: char| c == '_' || c == '$' || unicode_ident::is_xid_start(c);
    chars.next().is_some_and(is_start)
        && chars.all(|c| c == '$' || unicode_ident::is_xid_continue(c))
}

/// The words of a name: parted by what is no letter or digit.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !unicode_ident::is_xid_continue(c) || c == '_')
        .filter(|word| !word.is_empty())
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn first_small(word: &str) -> String {
    if !word.chars().any(char::is_lowercase) {
        return word.to_lowercase();
    }
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// A name that begins as one may.
fn begun(text: String, fallback: &str) -> String {
    match text.chars().next() {
        None => fallback.to_owned(),
        Some(first) if unicode_ident::is_xid_start(first) => text,
        Some(_) => format!("_{text}"),
    }
}

/// `list pets` is `listPets`.
pub(super) fn camel(text: &str, fallback: &str) -> String {
    let mut out = String::new();
    for word in words(text) {
        let word = if out.is_empty() { first_small(word) } else { capital(word) };
        out.push_str(&word);
    }
    begun(out, fallback)
}

/// `pet-owner` is `PetOwner`.
pub(super) fn pascal(text: &str) -> String {
    begun(words(text).map(capital).collect(), "Schema")
}

/// Names that are taken, so that each is there once.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    fn unused(&mut self, name: String, suffix: &str, reserved: &[&str]) -> String {
        let name = if reserved.contains(&name.as_str()) { format!("{name}{suffix}") } else { name };
        let mut out = name.clone();
        let mut number = 1_usize;
        while !self.0.insert(out.clone()) {
            number += 1;
            out = format!("{name}{number}");
        }
        out
    }

    /// Of a type.
    pub(super) fn of_type(&mut self, text: &str) -> String {
        self.unused(pascal(text), "Schema", &TYPES)
    }

    /// Of a method, which is a variable of the script, too.
    pub(super) fn of_method(&mut self, text: &str) -> String {
        let name = camel(text, "operation");
        let name = if RESERVED.contains(&name.as_str()) { format!("{name}Call") } else { name };
        self.unused(name, "Call", &METHODS)
    }

    /// Of a member, which may be written in quotes.
    pub(super) fn of_member(&mut self, text: &str, suffix: &str) -> String {
        if self.0.insert(text.to_owned()) {
            return text.to_owned();
        }
        self.unused(format!("{text}{suffix}"), suffix, &[])
    }

    /// Of a secret and a variable.
    pub(super) fn of_variable(&mut self, text: &str) -> String {
        self.unused(camel(text, "secret"), "Value", &RESERVED)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_clash_with_nothing() {
        let mut names = Names::default();
        assert_eq!(names.of_method("delete"), "deleteCall");
        assert_eq!(names.of_method("constructor"), "constructorCall");
        assert_eq!(names.of_method("list-pets"), "listPets");
        assert_eq!(names.of_method("ListPets"), "listPets2");
        assert_eq!(names.of_method("Zoë größe"), "zoëGröße");
        assert_eq!(names.of_method("📦"), "operation");
        let mut names = Names::default();
        assert_eq!(names.of_type("Response"), "ResponseSchema");
        assert_eq!(names.of_type("pet.Owner_v2"), "PetOwnerV2");
        assert_eq!(names.of_type("3d"), "_3d");
    }

    proptest! {
        #[test]
        fn any_text_becomes_a_name(text in ".{0,20}") {
            let mut names = Names::default();
            let all = [names.of_method(&text), names.of_type(&text), names.of_variable(&text)];
            for name in &all {
                prop_assert!(is_identifier(name), "{name:?}");
            }
            prop_assert!(all[0] != all[1] && all[1] != all[2]);
        }
    }
}
