//! The value of the tag `statement`.

use super::scan::{Kind, Scanner, Token};
use crate::config::Driver;

/// The most bytes of a folded statement; what is longer ends with `…`.
pub const FOLDED_MAX: usize = 256;

/// A list of values, however long.
const LIST: &str = "(?, …)";

/// Keywords that a value follows: a sign after them is a part of the number.
const BEFORE_VALUES: [&str; 24] = [
    "and", "as", "between", "by", "case", "default", "else", "having", "in", "interval", "is",
    "like", "limit", "not", "offset", "on", "or", "return", "select", "set", "then", "values",
    "when", "where",
];

/// Keywords that the name of a table or a column follows.
const BEFORE_NAMES: [&str; 21] = [
    "from",
    "join",
    "into",
    "update",
    "table",
    "index",
    "view",
    "trigger",
    "as",
    "exists",
    "on",
    "column",
    "rename",
    "to",
    "references",
    "add",
    "by",
    "using",
    "only",
    "drop",
    "ignore",
];

/// Operators in words that follow a name.
const AFTER_NAMES: [&str; 10] =
    ["in", "like", "glob", "is", "not", "between", "as", "asc", "desc", "collate"];

/// A statement with its literals as `?`, lists of them as `(?, …)`, comments gone, white space as one space: the value of the tag
/// `statement`. No value of the statement is in it, so that secrets never reach a tag: a text without an end ends the statement, and
/// `"…"` of SQLite, which reads unknown names as texts, is kept only where a name must be, or before an operator.
///
/// It takes time in proportion to the statement, and less for a statement that is longer than [`FOLDED_MAX`] without its lists.
pub fn folded(sql: &str, driver: Driver) -> String {
    let mut scanner = Scanner::new(sql, driver);
    let mut folder = Folder::new(driver);
    while let Some(token) = scanner.next() {
        if !folder.take(&token, &scanner) {
            break;
        }
    }
    folder.finish()
}

/// The last token, as far as the next one wants to know.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Start,
    /// A name, a value, a closing bracket.
    Operand,
    /// `IN`.
    In,
    /// `VALUES`.
    Values,
    /// A keyword before a value.
    Keyword,
    Symbol,
}

/// A list behind `IN` or `VALUES` that has had nothing but values.
struct List {
    /// Where its bracket lies in the output, and how deep.
    start: usize,
    depth: usize,
    has_value: bool,
}

struct Folder {
    driver: Driver,
    out: String,
    /// The output has no more room.
    is_full: bool,
    /// Space is due before the next token.
    gap: bool,
    last: Last,
    /// The last token was a keyword before a name, or a point.
    wants_name: bool,
    depth: usize,
    list: Option<List>,
    /// The depth of the tuple behind `VALUES` that is being read.
    tuple: Option<usize>,
    /// Such a tuple was just read: more of them are left out.
    is_after_tuple: bool,
    /// Left out until this depth is reached.
    skipped_to: Option<usize>,
    /// `INTO table` was read: the brackets that follow hold names.
    into: Into,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Into {
    No,
    Word,
    Table,
    Columns,
}

impl Folder {
    fn new(driver: Driver) -> Self {
        Self {
            driver,
            out: String::with_capacity(64),
            is_full: false,
            gap: false,
            last: Last::Start,
            wants_name: false,
            depth: 0,
            list: None,
            tuple: None,
            is_after_tuple: false,
            skipped_to: None,
            into: Into::No,
        }
    }

    /// Takes a token; `rest` is what follows. `false`: no other will change the output.
    fn take(&mut self, token: &Token<'_>, rest: &Scanner<'_>) -> bool {
        if token.is_blank() {
            self.gap = true;
            return !token.is_open;
        }
        if self.skipped_to.is_some() {
            self.skip(token);
            return true;
        }
        if self.is_after_tuple {
            if token.is_symbol(",") && rest.peek().is_some_and(|next| next.is_symbol("(")) {
                self.skipped_to = Some(self.depth);
                if !self.out.ends_with('…') && !self.out.ends_with(LIST) {
                    self.put(", …");
                }
                return !self.is_full;
            }
            self.is_after_tuple = false;
        }
        match token.kind {
            Kind::Quoted if token.is_open => {
                self.write("…");
                return false;
            }
            Kind::Quoted if self.is_name(token, rest) => {
                let text = token.text.replace(char::is_control, " ");
                self.name(&text);
            }
            Kind::Text | Kind::Number | Kind::Place | Kind::Quoted => self.value(),
            Kind::Word | Kind::Variable => self.word(token),
            Kind::Symbol => self.symbol(token, rest),
            Kind::Space | Kind::Comment => {}
        }
        !token.is_open && (!self.is_full || self.list.is_some())
    }

    /// A token of a tuple that is left out.
    fn skip(&mut self, token: &Token<'_>) {
        if token.is_symbol("(") {
            self.depth += 1;
        } else if token.is_symbol(")") {
            self.depth = self.depth.saturating_sub(1);
            if Some(self.depth) == self.skipped_to {
                self.skipped_to = None;
            }
        }
        self.gap = false;
    }

    fn value(&mut self) {
        if let Some(list) = &mut self.list {
            list.has_value = true;
        }
        self.write("?");
        (self.last, self.wants_name) = (Last::Operand, false);
    }

    fn name(&mut self, text: &str) {
        self.list = None;
        self.write(text);
        (self.last, self.wants_name) = (Last::Operand, false);
        if self.into == Into::Word {
            self.into = Into::Table;
        }
    }

    fn word(&mut self, token: &Token<'_>) {
        let is_one_of = |words: &[&str]| words.iter().any(|word| token.is_word(word));
        let is_constant = is_one_of(&["null", "true", "false", "default"]);
        if let Some(list) = &mut self.list {
            if is_constant {
                list.has_value = true;
            } else {
                self.list = None;
            }
        }
        self.write(token.text);
        self.last = if token.is_word("in") {
            Last::In
        } else if token.is_word("values") || token.is_word("value") {
            Last::Values
        } else if is_one_of(&BEFORE_VALUES) {
            Last::Keyword
        } else {
            Last::Operand
        };
        self.wants_name = is_one_of(&BEFORE_NAMES);
        self.into = match self.into {
            _ if token.is_word("into") => Into::Word,
            Into::Word | Into::Table if self.last == Last::Operand => Into::Table,
            _ => Into::No,
        };
    }

    fn symbol(&mut self, token: &Token<'_>, rest: &Scanner<'_>) {
        let text = token.text;
        match text {
            "(" => self.open(),
            ")" => self.close(),
            "-" | "+" if self.last != Last::Operand && begins_number(token, rest) => {
                // The sign of a number belongs to it. A space before it stays due.
                return;
            }
            _ => {
                if text != "," {
                    self.list = None;
                }
                self.write(text);
                self.last = Last::Symbol;
            }
        }
        self.wants_name = text == "." || (self.into == Into::Columns && matches!(text, "(" | ","));
        if text == ";" {
            self.into = Into::No;
        }
    }

    fn open(&mut self) {
        let last = self.last;
        self.write("(");
        self.depth += 1;
        if self.list.is_none() && matches!(last, Last::In | Last::Values) {
            let start = self.out.len().saturating_sub(1);
            if !self.is_full {
                self.list = Some(List { start, depth: self.depth, has_value: false });
            }
        }
        if last == Last::Values && self.tuple.is_none() {
            self.tuple = Some(self.depth);
        }
        self.into = if self.into == Into::Table { Into::Columns } else { Into::No };
        self.last = Last::Symbol;
    }

    fn close(&mut self) {
        let depth = self.depth;
        self.depth = depth.saturating_sub(1);
        match self.list.take() {
            Some(list) if list.depth == depth && list.has_value => {
                self.out.truncate(list.start);
                self.is_full = false;
                self.gap = false;
                self.put(LIST);
            }
            Some(list) if list.depth < depth => {
                self.write(")");
                self.list = Some(list);
            }
            _ => self.write(")"),
        }
        if self.tuple == Some(depth) {
            self.tuple = None;
            self.is_after_tuple = true;
        }
        self.into = Into::No;
        self.last = Last::Operand;
    }

    /// Whether a text in quotes is a name. Only SQLite's `"…"` may be something else.
    fn is_name(&self, token: &Token<'_>, rest: &Scanner<'_>) -> bool {
        if self.driver != Driver::Sqlite || !token.text.starts_with('"') || self.wants_name {
            return true;
        }
        rest.peek().is_some_and(|next| match next.kind {
            Kind::Symbol => matches!(next.text, "." | "=" | "<" | ">" | "!"),
            Kind::Word => AFTER_NAMES.iter().any(|word| next.is_word(word)),
            _ => false,
        })
    }

    /// Writes a token, and before it the space that is due.
    fn write(&mut self, text: &str) {
        let is_due = std::mem::take(&mut self.gap) || self.out.ends_with(',');
        let is_tight = self.out.is_empty() || self.out.ends_with('(') || matches!(text, ")" | ",");
        if is_due && !is_tight {
            self.put(" ");
        }
        self.put(text);
    }

    /// Writes as much of a text as there is room for.
    fn put(&mut self, text: &str) {
        if self.is_full {
            return;
        }
        let room = FOLDED_MAX - self.out.len();
        if text.len() <= room {
            self.out.push_str(text);
        } else {
            self.out.push_str(&text[..text.floor_char_boundary(room)]);
            self.is_full = true;
        }
    }

    fn finish(mut self) -> String {
        if self.is_full {
            let end = self.out.floor_char_boundary(FOLDED_MAX - '…'.len_utf8());
            self.out.truncate(end);
            self.out.push('…');
        }
        let end = self.out.trim_end_matches([' ', ';']).len();
        self.out.truncate(end);
        self.out
    }
}

/// Whether a number follows the sign at once.
fn begins_number(sign: &Token<'_>, rest: &Scanner<'_>) -> bool {
    let next = rest.clone().next();
    next.is_some_and(|next| next.kind == Kind::Number && next.from == sign.from + sign.text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn same_everywhere(sql: &str, expected: &str) {
        for driver in Driver::ALL {
            assert_eq!(folded(sql, driver), expected, "{driver:?}");
        }
    }

    #[test]
    fn literals_are_gone_and_the_rest_stays() {
        same_everywhere(
            "SELECT  a.b, c1\n FROM t -- why\n WHERE a = 'it''s' AND b>-1.5e-3 /* x */ AND c <> x'1f';",
            "SELECT a.b, c1 FROM t WHERE a = ? AND b>? AND c <> ?",
        );
        same_everywhere("SELECT 0x1F, .5, 1e10, a-1 LIMIT 5", "SELECT ?, ?, ?, a-? LIMIT ?");
        same_everywhere("  \n ", "");
        assert_eq!(folded("a = $1 AND b ->> 'k'", Driver::Postgres), "a = ? AND b ->> ?");
        assert_eq!(folded("a = :a OR b = @b OR c = ?3", Driver::Sqlite), "a = ? OR b = ? OR c = ?");
        assert_eq!(folded("SET @a := \"x\", @@b = ?", Driver::MySql), "SET @a := ?, @@b = ?");
        let functions = "SELECT $f$ secret ' $f$, E'a\\'b', a::int, \"A b\" FROM \"T\"";
        assert_eq!(folded(functions, Driver::Postgres), r#"SELECT ?, ?, a::int, "A b" FROM "T""#);
    }

    #[test]
    fn lists_are_one_however_long() {
        for list in ["(1)", "(1,2)", "( 'a', 2, NULL , -3)", "(?, ?)", "((1,2),(3,4))"] {
            same_everywhere(
                &format!("SELECT * FROM t WHERE a IN {list} AND b = 1").replace('?', "5"),
                "SELECT * FROM t WHERE a IN (?, …) AND b = ?",
            );
        }
        for rows in ["(1)", "(1, 'b')", "(1),(2)", "(1, 2) , (3, DEFAULT)"] {
            same_everywhere(
                &format!("INSERT INTO t (a, b) VALUES {rows} RETURNING a"),
                "INSERT INTO t (a, b) VALUES (?, …) RETURNING a",
            );
        }
        same_everywhere(
            "INSERT INTO t VALUES (1, now(), f(1, 2)), (2, now(), 'x'), (3, 4, 5)",
            "INSERT INTO t VALUES (?, now(), f(?, ?)), …",
        );
        same_everywhere(
            "SELECT a IN (SELECT b FROM c WHERE d IN (1, 2))",
            "SELECT a IN (SELECT b FROM c WHERE d IN (?, …))",
        );
        let upsert =
            "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = VALUES(a), b = VALUES(b)";
        let expected =
            "INSERT INTO t VALUES (?, …) ON DUPLICATE KEY UPDATE a = VALUES(a), b = VALUES(b)";
        assert_eq!(folded(upsert, Driver::MySql), expected);
        let many = format!("INSERT INTO t VALUES {}(2) RETURNING a", "(1, 'x'), ".repeat(20_000));
        same_everywhere(&many, "INSERT INTO t VALUES (?, …) RETURNING a");
        let long = format!("SELECT a IN ({}2)", "1, ".repeat(20_000));
        same_everywhere(&long, "SELECT a IN (?, …)");
    }

    #[test]
    fn a_text_without_an_end_ends_the_statement() {
        same_everywhere("SELECT 'secret", "SELECT ?");
        same_everywhere("SELECT a /* secret", "SELECT a");
        assert_eq!(folded("SELECT $a$ secret $b$", Driver::Postgres), "SELECT ?");
        assert_eq!(folded("SELECT `secret", Driver::Sqlite), "SELECT …");
    }

    #[test]
    fn names_of_sqlite_are_kept_where_a_text_cannot_be() {
        let sql = r#"INSERT INTO "t" ("a", "b") VALUES ("secret", "b")"#;
        assert_eq!(folded(sql, Driver::Sqlite), r#"INSERT INTO "t" ("a", "b") VALUES (?, …)"#);
        let sql = r#"SELECT t."a", [b c], `d` FROM "t" WHERE "a" = "secret" AND b IN ("secret")"#;
        let expected = r#"SELECT t."a", [b c], `d` FROM "t" WHERE "a" = ? AND b IN (?, …)"#;
        assert_eq!(folded(sql, Driver::Sqlite), expected);
    }

    #[test]
    fn a_long_statement_is_cut_at_a_character() {
        for letters in ["a", "é", "🚢"] {
            let sql = format!("SELECT {}", letters.repeat(2000));
            let cut = folded(&sql, Driver::Sqlite);
            assert!(cut.len() <= FOLDED_MAX && cut.len() > FOLDED_MAX - 8, "{}", cut.len());
            assert!(cut.ends_with('…'));
        }
    }

    /// A literal whose value is the secret, in each form that a database has.
    fn literal(driver: Driver) -> impl Strategy<Value = String> {
        let body = "[a-z ,;()=?$:@#*/-]{0,6}";
        let forms = match driver {
            Driver::MySql => 5_usize,
            Driver::Postgres => 6,
            Driver::Sqlite => 3,
        };
        (0..forms, body, body).prop_map(move |(form, before, after)| {
            let inner = format!("{before}hunter2{after}");
            match (form, driver) {
                (0, _) => format!("'{inner}'"),
                (1, _) => format!("'it''s {inner}'"),
                (2, Driver::Sqlite) => format!("x'{inner}'"),
                (2, Driver::MySql) => format!("\"{inner}\""),
                (3, Driver::MySql) => format!("'\\'{inner}\\\\'"),
                (_, Driver::MySql) => format!("N'{inner}'"),
                (2, _) => format!("E'\\'{inner}\\\\'"),
                (3, _) => format!("$q$'{inner}$q$"),
                (4, _) => format!("$${}$$", inner.replace('$', "")),
                _ => format!("U&'{inner}'"),
            }
        })
    }

    fn statement(driver: Driver) -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            literal(driver),
            "(SELECT|WHERE|a|b1|IN|VALUES|AND|INTO|SET|/\\* it's \\*/|-- a'b\n|\\(|\\)|,|=|-|;|1|1\\.5|\\?)",
        ];
        proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.join(" "))
    }

    proptest! {
        #[test]
        fn no_value_is_left(
            sql in prop_oneof![
                statement(Driver::MySql).prop_map(|sql| (Driver::MySql, sql)),
                statement(Driver::Postgres).prop_map(|sql| (Driver::Postgres, sql)),
                statement(Driver::Sqlite).prop_map(|sql| (Driver::Sqlite, sql)),
            ]
        ) {
            let (driver, sql) = sql;
            let out = folded(&sql, driver);
            prop_assert!(!out.contains("hunter2"), "{} of {}", out, sql);
            prop_assert!(out.len() <= FOLDED_MAX);
            if !out.contains('…') {
                prop_assert_eq!(folded(&out, driver), out);
            }
        }

        #[test]
        fn anything_is_folded(sql in "\\PC{0,80}") {
            for driver in Driver::ALL {
                prop_assert!(folded(&sql, driver).len() <= FOLDED_MAX);
            }
        }
    }
}
