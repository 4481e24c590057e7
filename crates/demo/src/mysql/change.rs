//! UPDATE and DELETE, a page at a time, so that other connections have their turn.

use super::bind::{Argument, cell, changed, number, value};
use super::database::{Database, Done};
use super::filter::{Cursor, Filter};
use super::row::{cells, put_cell};
use super::statement::{Delete, Joined, Update};
use super::table::Table;
use super::trouble::Trouble;
use super::undo::Log;

/// Rows of one table that change, or go.
#[derive(Debug)]
pub(crate) struct Sweep {
    /// The table whose rows are read.
    table: u64,
    filter: Filter,
    cursor: Cursor,
    work: Work,
    pub(crate) done: Done,
}

#[derive(Debug)]
enum Work {
    /// Places and cells, as a row has them.
    Set(Vec<(usize, Vec<u8>)>),
    Remove,
    /// Cells go to the row of this table whose key the column says.
    Copy {
        to: u64,
        key: Option<usize>,
        places: Vec<(usize, Option<usize>)>,
    },
}

impl Sweep {
    pub(crate) fn update(
        database: &Database,
        update: &Update,
        args: &[Argument],
    ) -> Result<Self, Trouble> {
        let table = database.table(&update.table)?;
        let mut sets = Vec::new();
        for (name, scalar) in &update.sets {
            let (column, place) = settable(table, name)?;
            let mut bytes = Vec::new();
            let new = cell(&table.columns[column], value(scalar, args)?, 1)?;
            put_cell(&mut bytes, new.as_deref());
            sets.push((place, bytes));
        }
        Ok(Self::new(table, Filter::new(table, &update.tests, args)?, Work::Set(sets)))
    }

    pub(crate) fn delete(
        database: &Database,
        delete: &Delete,
        args: &[Argument],
    ) -> Result<Self, Trouble> {
        let table = database.table(&delete.table)?;
        Ok(Self::new(table, Filter::new(table, &delete.tests, args)?, Work::Remove))
    }

    pub(crate) fn joined(database: &Database, joined: &Joined) -> Result<Self, Trouble> {
        let (to, from) = (database.table(&joined.table)?, database.table(&joined.from)?);
        let missing = |name: &str| Trouble::no_column(name, "on clause");
        let column = to.column(&joined.on.0).ok_or_else(|| missing(&joined.on.0))?;
        if to.key != Some(column) {
            return Err(Trouble::unknown(
                "UPDATE of a table that is not joined by its primary key",
            ));
        }
        let key = from.column(&joined.on.1).ok_or_else(|| missing(&joined.on.1))?;
        let mut places = Vec::new();
        for (name, other) in &joined.sets {
            let (_, place) = settable(to, name)?;
            let column =
                from.column(other).ok_or_else(|| Trouble::no_column(other, "field list"))?;
            places.push((place, from.place(column)));
        }
        let work = Work::Copy { to: to.number, key: from.place(key), places };
        Ok(Self::new(from, Filter::new(from, &[], &[])?, work))
    }

    fn new(table: &Table, filter: Filter, work: Work) -> Self {
        let (table, cursor, done) = (table.number, Cursor::default(), Done::default());
        Self { table, filter, cursor, work, done }
    }

    /// Does a page of it. `false`: it is done.
    ///
    /// # Errors
    /// A value does not fit; the caller takes back the pages before.
    pub(crate) fn step(&mut self, database: &mut Database, log: &mut Log) -> Result<bool, Trouble> {
        let Some(table) = database.numbered(self.table) else { return Ok(false) };
        let mut todo: Vec<(i64, Vec<u8>)> = Vec::new();
        let target = match self.work {
            Work::Copy { to, .. } => to,
            _ => self.table,
        };
        let Some(to) = database.numbered(target) else { return Ok(false) };
        let (work, done) = (&self.work, &mut self.done);
        let mut trouble = None;
        let more = self.filter.step(table, &mut self.cursor, |key, row| {
            let mut new = Vec::new();
            match work {
                Work::Remove => {
                    done.matched += 1;
                    todo.push((key, new));
                }
                Work::Set(sets) => {
                    done.matched += 1;
                    changed(table, row, sets, &mut new);
                    if new != row {
                        todo.push((key, new));
                    }
                }
                Work::Copy { key: place, places, .. } => {
                    let said = place.map_or(Some(key), |place| {
                        cells(row).nth(place).flatten().and_then(number)
                    });
                    let Some((said, old)) = said.and_then(|key| Some((key, to.row(key)?))) else {
                        return true;
                    };
                    done.matched += 1;
                    match copied(to, places, key, row) {
                        Ok(sets) => changed(to, old, &sets, &mut new),
                        Err(found) => trouble = Some(found),
                    }
                    if new != old {
                        todo.push((said, new));
                    }
                }
            }
            trouble.is_none()
        });
        if let Some(trouble) = trouble {
            return Err(trouble);
        }
        let grown: usize = todo.iter().map(|(_, new)| new.len()).sum();
        if grown > 0 && !database.has_room(0) {
            return Err(Trouble::full("bulktest"));
        }
        let Some(to) = database.numbered_mut(target) else { return Ok(false) };
        for (key, new) in todo {
            let Some(old) = to.row(key) else { continue };
            log.lost(target, key, old)?;
            match self.work {
                Work::Remove => to.remove(key),
                _ => to.replace(key, &new),
            }
            self.done.changed += 1;
            self.done.written += 1;
        }
        Ok(more)
    }
}

/// A column that an UPDATE may set, and its place in a row.
fn settable(table: &Table, name: &str) -> Result<(usize, usize), Trouble> {
    let column = table.column(name).ok_or_else(|| Trouble::no_column(name, "field list"))?;
    let place = table.place(column);
    Ok((column, place.ok_or_else(|| Trouble::unknown("UPDATE of a primary key"))?))
}

/// Cells of a row of another table, as this table keeps them.
fn copied(
    to: &Table,
    places: &[(usize, Option<usize>)],
    key: i64,
    row: &[u8],
) -> Result<Vec<(usize, Vec<u8>)>, Trouble> {
    use super::bind::Value;
    let digits = key.to_string();
    let one = |&(place, from): &(usize, Option<usize>)| {
        let text = from.map_or(Some(digits.as_bytes()), |from| cells(row).nth(from).flatten());
        let column = to.columns.iter().enumerate().filter(|(index, _)| to.key != Some(*index));
        let (_, column) = column.clone().nth(place).expect("the place is of a column");
        let mut bytes = Vec::new();
        put_cell(&mut bytes, cell(column, text.map_or(Value::Null, Value::Text), 1)?.as_deref());
        Ok((place, bytes))
    };
    places.iter().map(one).collect()
}
