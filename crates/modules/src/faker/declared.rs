//! The declarations of `k6/x/faker` for TypeScript, made of the tables. `types/faker.d.ts` has to be the same.

use std::fmt::Write as _;

use super::row::{Asked, Given, Kind, Make, Out, Rng, Row, Values, pick};
use super::{ALL, GROUPS, OLD};

const HEAD: &str = "\
/**
 * Made-up data. This file is made of the tables of `crates/modules/src/faker/`: a test of theirs writes it anew if it is run
 * with `BRUNT_WRITE=1`.
 */
declare module 'k6/x/faker' {
";

const TAIL: &str = "  export class Faker {
    /** @param seed - With a number other than 0, the same values come in every run. */
    constructor(seed?: number);
CATEGORIES
    /** The function of this name, in large or small letters. */
    call<Name extends keyof Zen>(name: Name, ...args: Parameters<Zen[Name]>): ReturnType<Zen[Name]>;
    call(name: string, ...args: any[]): any;
  }

  /** Its seed is the variable `XK6_FAKER_SEED`; without one its values are others in every run. */
  const faker: Faker;
  export default faker;
}
";

/// The interface of a category: `address` has `Address`.
fn interface(category: &str) -> String {
    let (first, rest) = category.split_at(1);
    first.to_ascii_uppercase() + rest
}

/// The type of a value, as TypeScript writes it.
fn type_of(value: &Out) -> String {
    match value {
        Out::Fixed(_) | Out::Text(_) => "string".to_owned(),
        Out::Number(_) => "number".to_owned(),
        Out::Flag(_) => "boolean".to_owned(),
        Out::List(values) => {
            let entry = values.first().map(type_of);
            format!("{}[]", entry.as_deref().unwrap_or("string"))
        }
        Out::Record(members) => {
            let members: Vec<_> =
                members.iter().map(|(name, value)| format!("{name}: {}", type_of(value))).collect();
            format!("{{ {} }}", members.join("; "))
        }
    }
}

/// The type of an argument.
fn type_of_argument(kind: Kind) -> &'static str {
    match kind {
        Kind::Number(_) => "number",
        Kind::Flag(_) => "boolean",
        Kind::Text(_) => "string",
        Kind::Numbers(_) => "number[]",
        Kind::Texts(_) => "string[]",
    }
}

/// An argument that every function with needs takes.
fn example(kind: Kind) -> Given {
    match kind {
        Kind::Number(_) => Given::Number(1.0),
        Kind::Flag(_) => Given::Flag(true),
        Kind::Text(_) => Given::Text("#?".to_owned()),
        Kind::Numbers(_) => Given::Numbers(vec![1.0, 2.0]),
        Kind::Texts(_) => Given::Texts(vec!["a".to_owned(), "b".to_owned()]),
    }
}

/// The type of the values of a function.
fn result(row: &Row) -> String {
    // The names of its members are those of the script's teams.
    if row.name == "teams" {
        return "{ [team: string]: string[] }".to_owned();
    }
    let mut rng = Rng::with_seed(1);
    let given: Vec<Given> = row
        .arguments()
        .iter()
        .map(|argument| argument.kind.otherwise().unwrap_or_else(|| example(argument.kind)))
        .collect();
    let made = match row.make {
        Make::Pick(list) => Out::Fixed(pick(&mut rng, list)),
        Make::Text(make) => Out::Text(make(&mut rng)),
        Make::Number(make) => Out::Number(make(&mut rng)),
        Make::Plain(make) => make(&mut rng),
        Make::With(_, make) => {
            let made = make(&mut Asked { rng: &mut rng, given: Values(&given) });
            made.unwrap_or_else(|why| panic!("{}: {why}", row.name))
        }
    };
    type_of(&made)
}

/// The default of an argument, as a script would write it.
fn shown(given: &Given) -> String {
    match given {
        Given::Number(number) => number.to_string(),
        Given::Flag(flag) => flag.to_string(),
        Given::Text(text) => format!("`'{text}'`"),
        Given::Numbers(numbers) => {
            let numbers: Vec<_> = numbers.iter().map(f64::to_string).collect();
            format!("`[{}]`", numbers.join(", "))
        }
        Given::Texts(texts) => format!("`{texts:?}`"),
    }
}

/// The lines of a function.
fn function(row: &Row) -> String {
    let mut defaults = Vec::new();
    let mut arguments = Vec::new();
    for (index, argument) in row.arguments().iter().enumerate() {
        let (name, kind) = (argument.name, type_of_argument(argument.kind));
        let otherwise = argument.kind.otherwise();
        // TypeScript knows no argument that is needed behind one that is not.
        let is_last = row.arguments()[index..].iter().all(|next| next.kind.otherwise().is_some());
        arguments.push(match &otherwise {
            Some(_) if is_last => format!("{name}?: {kind}"),
            Some(_) => format!("{name}: {kind} | undefined"),
            None => format!("{name}: {kind}"),
        });
        if let Some(given) = otherwise {
            defaults.push(format!("{name} {}", shown(&given)));
        }
    }
    let mut lines = String::new();
    if !defaults.is_empty() {
        let _ = writeln!(lines, "    /** Defaults: {}. */", defaults.join(", "));
    }
    let _ = writeln!(lines, "    {}({}): {};", row.name, arguments.join(", "), result(row));
    lines
}

/// The whole file.
fn declarations() -> String {
    let mut file = HEAD.to_owned();
    for (category, rows) in GROUPS {
        let _ = writeln!(file, "  export interface {} {{", interface(category));
        rows.iter().for_each(|row| file.push_str(&function(row)));
        file.push_str("  }\n\n");
    }
    let all: Vec<_> = GROUPS.iter().map(|(category, _)| interface(category)).collect();
    let _ = writeln!(file, "  /** The functions of all categories. */");
    let _ = writeln!(file, "  export interface Zen extends {} {{}}\n", all.join(", "));
    let own = GROUPS.iter().map(|&(category, _)| (category, category));
    let names = own.chain(OLD.iter().copied()).chain([(ALL, ALL)]);
    let categories: Vec<_> = names
        .map(|(name, category)| format!("    readonly {name}: {};", interface(category)))
        .collect();
    file.push_str(&TAIL.replace("CATEGORIES", &categories.join("\n")));
    file
}

#[test]
fn the_declarations_for_typescript_are_those_of_the_tables() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../types/faker.d.ts");
    let wanted = declarations();
    if std::env::var_os("BRUNT_WRITE").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    let there = std::fs::read_to_string(path).unwrap();
    let differs = there.lines().zip(wanted.lines()).find(|(there, wanted)| there != wanted);
    assert!(
        there == wanted,
        "types/faker.d.ts is not what the tables say: {differs:?}; BRUNT_WRITE=1 writes it anew"
    );
}
