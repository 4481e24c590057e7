//! All tables, and the changes to them.

use std::collections::BTreeMap;

use super::bind::{Argument, Value, cell, integer, value};
use super::row::put_cell;
use super::statement::{Change, Insert};
use super::table::{Column, Kind, Table};
use super::trouble::Trouble;
use super::undo::{Log, Undo};
use crate::bulk::bulk_text;

/// The most tables.
const TABLES_MAX: usize = 1000;
/// Bytes of a row, on average, at the most.
const ROW_BYTES: u64 = 256;

/// The tables of the database `demo`.
#[derive(Debug)]
pub(crate) struct Database {
    tables: BTreeMap<String, Table>,
    numbers: u64,
    rows_max: u64,
}

/// What a statement did.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    /// Rows that are other than before.
    pub(crate) changed: u64,
    /// Rows that a WHERE found.
    pub(crate) matched: u64,
    /// The first id that AUTO_INCREMENT gave.
    pub(crate) last_id: u64,
    /// Rows that took time to write.
    pub(crate) written: u64,
}

impl Database {
    pub(crate) fn new(rows_max: u64) -> Self {
        Self { tables: BTreeMap::new(), numbers: 0, rows_max }
    }

    /// Makes `bulktest` with so many rows.
    pub(crate) fn fill(&mut self, rows: u64, seed: u64) {
        let int = Kind::Int { bits: 32, unsigned: false };
        let column = |name: &str, kind, is_key: bool| Column {
            name: name.to_owned(),
            kind,
            is_nullable: !is_key,
            default: None,
            is_counted: is_key,
        };
        let columns = vec![column("id", int, true), column("text", Kind::Text { most: 45 }, false)];
        let mut table = Table::new(self.number(), columns, Some(0));
        let mut row = Vec::new();
        for id in 1..=rows {
            row.clear();
            put_cell(&mut row, Some(&bulk_text(seed, id)));
            table.insert(id as i64, &row);
        }
        table.next = rows as i64 + 1;
        self.tables.insert("bulktest".to_owned(), table);
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    pub(crate) fn table(&self, name: &str) -> Result<&Table, Trouble> {
        self.tables.get(name).ok_or_else(|| Trouble::no_table(name))
    }

    fn table_mut(&mut self, name: &str) -> Result<&mut Table, Trouble> {
        self.tables.get_mut(name).ok_or_else(|| Trouble::no_table(name))
    }

    pub(crate) fn numbered(&self, number: u64) -> Option<&Table> {
        self.tables.values().find(|table| table.number == number)
    }

    pub(crate) fn numbered_mut(&mut self, number: u64) -> Option<&mut Table> {
        self.tables.values_mut().find(|table| table.number == number)
    }

    /// Rows of all tables.
    pub(crate) fn rows(&self) -> u64 {
        self.tables.values().map(|table| table.rows).sum()
    }

    /// Whether there is room for more rows.
    pub(crate) fn has_room(&self, rows: u64) -> bool {
        let bytes: u64 = self.tables.values().map(|table| table.bytes).sum();
        self.rows() + rows <= self.rows_max && bytes < self.rows_max.saturating_mul(ROW_BYTES)
    }

    /// Puts rows into a table: all or none.
    pub(crate) fn insert(
        &mut self,
        insert: &Insert,
        args: &[Argument],
        log: &mut Log,
    ) -> Result<Done, Trouble> {
        let mark = log.len();
        let has_room = self.has_room(insert.rows as u64);
        let table = self.table_mut(&insert.table)?;
        if !has_room {
            return Err(Trouble::full(&insert.table));
        }
        let done = put_rows(table, insert, args, log, mark);
        if done.is_err() {
            self.undo(log, mark);
        }
        done
    }

    /// Takes back all changes from `mark` on.
    pub(crate) fn undo(&mut self, log: &mut Log, mark: usize) {
        while log.len() > mark
            && let Some(undo) = log.pop()
        {
            match undo {
                Undo::Inserted { table, first, last } => {
                    if let Some(table) = self.numbered_mut(table) {
                        (first..=last).for_each(|key| table.remove(key));
                    }
                }
                Undo::Lost { table, key, row } => {
                    if let Some(table) = self.numbered_mut(table)
                        && !table.insert(key, &row)
                    {
                        table.replace(key, &row);
                    }
                }
            }
        }
        if mark == 0 {
            log.clear();
        }
    }

    /// Makes, changes and removes tables.
    pub(crate) fn change(&mut self, change: &Change) -> Result<Done, Trouble> {
        let mut done = Done::default();
        match change {
            Change::Create { name, columns, key, is_careful } => {
                let number = self.number();
                self.add(name, *is_careful, Table::new(number, columns.clone(), *key))?;
            }
            Change::CreateLike { name, like, is_careful } => {
                let (columns, key) = {
                    let like = self.table(like)?;
                    (like.columns.clone(), like.key)
                };
                let number = self.number();
                self.add(name, *is_careful, Table::new(number, columns, key))?;
            }
            Change::Drop { names, is_careful } => {
                for name in names {
                    if self.tables.remove(name).is_none() && !is_careful {
                        let text = format!("Unknown table 'demo.{name}'");
                        return Err(Trouble::new(1051, "42S02", text));
                    }
                }
            }
            Change::Truncate(names) => {
                for name in names {
                    self.table_mut(name)?.clear();
                }
            }
            Change::Rename(pairs) => {
                // In their order: a, b = b, a by way of a third name.
                let mut after = std::mem::take(&mut self.tables);
                let renamed = pairs.iter().try_for_each(|(old, new)| {
                    if after.contains_key(new) {
                        return Err(exists(new));
                    }
                    let table = after.remove(old).ok_or_else(|| Trouble::no_table(old))?;
                    after.insert(new.clone(), table);
                    Ok(())
                });
                self.tables = after;
                renamed?;
            }
            Change::Add { table, columns } => {
                let table = self.table_mut(table)?;
                for column in columns {
                    if table.column(&column.name).is_some() {
                        let text = format!("Duplicate column name '{}'", column.name);
                        return Err(Trouble::new(1060, "42S21", text));
                    }
                    if !column.is_nullable || column.default.is_some() {
                        return Err(Trouble::unknown("ADD COLUMN with NOT NULL or DEFAULT"));
                    }
                }
                table.columns.extend(columns.iter().cloned());
                done.written = table.rows;
            }
            Change::Next { table, id } => {
                let table = self.table_mut(table)?;
                table.next = table.next.max(*id);
            }
        }
        Ok(done)
    }

    fn add(&mut self, name: &str, is_careful: bool, table: Table) -> Result<(), Trouble> {
        if self.tables.contains_key(name) {
            return if is_careful { Ok(()) } else { Err(exists(name)) };
        }
        if self.tables.len() >= TABLES_MAX {
            return Err(Trouble::full(name));
        }
        self.tables.insert(name.to_owned(), table);
        Ok(())
    }
}

fn exists(name: &str) -> Trouble {
    Trouble::new(1050, "42S01", format!("Table '{name}' already exists"))
}

fn put_rows(
    table: &mut Table,
    insert: &Insert,
    args: &[Argument],
    log: &mut Log,
    mark: usize,
) -> Result<Done, Trouble> {
    // For each column of the table the place of its value in a row of the statement.
    let mut sources: Vec<Option<usize>> = vec![None; table.columns.len()];
    let width = if insert.columns.is_empty() { sources.len() } else { insert.columns.len() };
    if insert.columns.is_empty() {
        sources = (0..width).map(Some).collect();
    }
    for (place, name) in insert.columns.iter().enumerate() {
        let index = table.column(name).ok_or_else(|| Trouble::no_column(name, "field list"))?;
        if sources[index].replace(place).is_some() {
            let text = format!("Column '{name}' specified twice");
            return Err(Trouble::new(1110, "42000", text));
        }
    }
    if insert.values.len() != width * insert.rows {
        let text = "Column count doesn't match value count at row 1";
        return Err(Trouble::new(1136, "21S01", text));
    }
    let mut done = Done::default();
    let mut bytes = Vec::new();
    for (index, row) in insert.values.chunks(width.max(1)).enumerate() {
        let given = |source: Option<usize>| match source {
            Some(place) => value(&row[place], args),
            None => Ok(Value::Default),
        };
        let mut key = None;
        bytes.clear();
        for (place, column) in table.columns.iter().enumerate() {
            let value = given(sources[place])?;
            if table.key != Some(place) {
                put_cell(&mut bytes, cell(column, value, index + 1)?.as_deref());
                continue;
            }
            let is_counted = matches!(value, Value::Null | Value::Default | Value::Int(0));
            if column.is_counted && is_counted {
                continue;
            }
            if let Some(text) = cell(column, value, index + 1)? {
                key = Some(integer(column, Value::Text(&text), index + 1)?);
            }
        }
        let is_given = key.is_some();
        let key = key.unwrap_or(table.next);
        if !is_given && let Some(column) = table.key {
            integer(&table.columns[column], Value::Int(key), index + 1).map_err(|_| {
                Trouble::new(
                    1467,
                    "HY000",
                    "Failed to read auto-increment value from storage engine",
                )
            })?;
            if done.last_id == 0 {
                done.last_id = key as u64;
            }
        }
        if !table.insert(key, &bytes) {
            let text = format!("Duplicate entry '{key}' for key 'PRIMARY'");
            return Err(Trouble::new(1062, "23000", text));
        }
        table.next = table.next.max(key.saturating_add(1));
        log.inserted(table.number, key, mark);
        done.changed += 1;
    }
    (done.written, done.matched) = (done.changed, done.changed);
    Ok(done)
}
