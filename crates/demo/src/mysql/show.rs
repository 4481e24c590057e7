//! SHOW COLUMNS and SHOW CREATE TABLE.

use std::fmt::Write as _;

use super::filter::like;
use super::table::{Column, Kind, Table};

/// The columns of SHOW COLUMNS.
pub(crate) const COLUMNS: [&str; 6] = ["Field", "Type", "Null", "Key", "Default", "Extra"];
/// The columns of SHOW CREATE TABLE.
pub(crate) const CREATE: [&str; 2] = ["Table", "Create Table"];

/// The rows of SHOW COLUMNS, for names that are like the pattern.
pub(crate) fn columns(table: &Table, pattern: Option<&str>) -> Vec<Vec<Option<String>>> {
    let is_like = |column: &Column| {
        pattern.is_none_or(|pattern| like(column.name.as_bytes(), pattern.as_bytes()))
    };
    let row = |(index, column): (usize, &Column)| {
        let is_key = table.key == Some(index);
        vec![
            Some(column.name.clone()),
            Some(kind(column)),
            Some(if column.is_nullable { "YES" } else { "NO" }.to_owned()),
            Some(if is_key { "PRI" } else { "" }.to_owned()),
            default(column),
            Some(if column.is_counted { "auto_increment" } else { "" }.to_owned()),
        ]
    };
    let all = table.columns.iter().enumerate();
    all.filter(|(_, column)| is_like(column)).map(row).collect()
}

/// The statement that makes a table.
pub(crate) fn create_text(name: &str, table: &Table) -> String {
    let mut text = format!("CREATE TABLE `{name}` (");
    for (index, column) in table.columns.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        // Writing to a String can't fail.
        let _ = write!(text, "{comma}\n  `{}` {}", column.name, kind(column));
        text.push_str(if column.is_nullable { "" } else { " NOT NULL" });
        text.push_str(if column.is_counted { " AUTO_INCREMENT" } else { "" });
        if let Some(default) = default(column) {
            let _ = write!(text, " DEFAULT '{default}'");
        }
    }
    if let Some(key) = table.key {
        let _ = write!(text, ",\n  PRIMARY KEY (`{}`)", table.columns[key].name);
    }
    text.push_str("\n) ENGINE=InnoDB");
    if table.next > 1 && table.columns.iter().any(|column| column.is_counted) {
        let _ = write!(text, " AUTO_INCREMENT={}", table.next);
    }
    text.push_str(" DEFAULT CHARSET=utf8mb4");
    text
}

fn kind(column: &Column) -> String {
    match column.kind {
        Kind::Int { bits, unsigned } => {
            let name = match bits {
                8 => "tinyint",
                16 => "smallint",
                24 => "mediumint",
                32 => "int",
                _ => "bigint",
            };
            format!("{name}{}", if unsigned { " unsigned" } else { "" })
        }
        Kind::Text { most: 65_535 } => "text".to_owned(),
        Kind::Text { most } => format!("varchar({most})"),
    }
}

fn default(column: &Column) -> Option<String> {
    column.default.as_deref().map(|text| String::from_utf8_lossy(text).into_owned())
}
