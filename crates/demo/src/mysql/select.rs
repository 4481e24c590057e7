//! SELECT from a table, a page at a time: a result is never in memory as a whole.

use super::bind::{Argument, count, number};
use super::database::Database;
use super::filter::{Cursor, Filter};
use super::reply::{self, Heading};
use super::row::cells;
use super::statement::{Item, Select, Sum};
use super::table::{COLUMNS_MAX, Kind, Table};
use super::trouble::Trouble;
use super::wire::Packets;

/// A result that is being sent.
#[derive(Debug)]
pub(crate) struct Reading {
    table: u64,
    filter: Filter,
    cursor: Cursor,
    pub(crate) headings: Vec<Heading>,
    output: Output,
    skip: u64,
    left: u64,
    /// Rows that were looked at and matched.
    pub(crate) read: u64,
    /// Rows that were sent.
    pub(crate) sent: u64,
}

#[derive(Debug)]
enum Output {
    /// Places of the columns in a row; `None`: the key.
    Rows(Vec<Option<usize>>),
    Sums(Vec<Total>),
}

/// One function over all rows.
#[derive(Debug)]
struct Total {
    sum: Sum,
    /// The column's place in a row; none of COUNT(*).
    of: Option<Option<usize>>,
    count: i128,
    total: i128,
    /// The lowest or the highest: its number, or its text.
    best: Option<Vec<u8>>,
    is_text: bool,
}

/// The columns of a result, and where they come from.
fn columns(table: &Table, select: &Select) -> Result<(Vec<Heading>, Output), Trouble> {
    let index_of =
        |name: &str| table.column(name).ok_or_else(|| Trouble::no_column(name, "field list"));
    let (mut headings, mut places, mut totals) = (Vec::new(), Vec::new(), Vec::new());
    for item in &select.items {
        match item {
            Item::All => {
                for index in 0..table.columns.len() {
                    headings.push(Heading::of(&select.table, table, index, None));
                    places.push(table.place(index));
                }
            }
            Item::Column(name, alias) => {
                let index = index_of(name)?;
                headings.push(Heading::of(&select.table, table, index, alias.as_deref()));
                places.push(table.place(index));
            }
            Item::Sum(name, sum, of) => {
                let index = of.as_deref().map(index_of).transpose()?;
                let is_text = index
                    .is_some_and(|index| matches!(table.columns[index].kind, Kind::Text { .. }));
                headings.push(match (sum, index) {
                    (Sum::Min | Sum::Max, Some(index)) => {
                        Heading::of(&select.table, table, index, None).renamed(name)
                    }
                    (Sum::Sum, _) => Heading::decimal(name),
                    _ => Heading::long(name),
                });
                if is_text && *sum == Sum::Sum {
                    return Err(Trouble::unknown("SUM of a text"));
                }
                let of = index.map(|index| table.place(index));
                totals.push(Total { sum: *sum, of, count: 0, total: 0, best: None, is_text });
            }
        }
    }
    if headings.len() > COLUMNS_MAX {
        return Err(Trouble::new(1117, "HY000", "Too many columns"));
    }
    match (places.is_empty(), totals.is_empty()) {
        (false, false) => Err(Trouble::unknown("columns beside COUNT, SUM, MIN or MAX")),
        (true, _) => Ok((headings, Output::Sums(totals))),
        (false, true) => Ok((headings, Output::Rows(places))),
    }
}

/// The columns of a SELECT that is prepared.
pub(crate) fn headings(database: &Database, select: &Select) -> Result<Vec<Heading>, Trouble> {
    Ok(columns(database.table(&select.table)?, select)?.0)
}

impl Reading {
    pub(crate) fn new(
        database: &Database,
        select: &Select,
        args: &[Argument],
    ) -> Result<Self, Trouble> {
        let table = database.table(&select.table)?;
        let (headings, output) = columns(table, select)?;
        let mut cursor = Cursor::default();
        if let Some((name, is_down)) = &select.order {
            let index =
                table.column(name).ok_or_else(|| Trouble::no_column(name, "order clause"))?;
            if table.key != Some(index) && matches!(output, Output::Rows(_)) {
                return Err(Trouble::unknown("ORDER BY of anything but the primary key"));
            }
            cursor.is_down = *is_down;
        }
        let filter = Filter::new(table, &select.tests, args)?;
        let number = |scalar: &Option<_>, none| match scalar {
            Some(scalar) => count(scalar, args),
            None => Ok(none),
        };
        let (skip, left) = (number(&select.offset, 0)?, number(&select.limit, u64::MAX)?);
        let table = table.number;
        Ok(Self { table, filter, cursor, headings, output, skip, left, read: 0, sent: 0 })
    }

    /// Sends a page of rows. `false`: that was the last.
    pub(crate) fn step(
        &mut self,
        database: &Database,
        packets: &mut Packets,
        is_binary: bool,
    ) -> bool {
        let Some(table) = database.numbered(self.table) else {
            return false;
        };
        let (headings, read, sent) = (&self.headings, &mut self.read, &mut self.sent);
        match &mut self.output {
            Output::Rows(places) => {
                if self.left == 0 {
                    return false;
                }
                let (skip, left) = (&mut self.skip, &mut self.left);
                let highest = places.iter().flatten().max().map_or(0, |place| place + 1);
                self.filter.step(table, &mut self.cursor, |key, row| {
                    *read += 1;
                    if *skip > 0 {
                        *skip -= 1;
                        return true;
                    }
                    let digits = key.to_string();
                    let mut all: [Option<&[u8]>; 64] = [None; COLUMNS_MAX];
                    all.iter_mut().zip(cells(row).take(highest)).for_each(|(to, cell)| *to = cell);
                    let mut picked: [Option<&[u8]>; 64] = [None; COLUMNS_MAX];
                    let width = places.len().min(COLUMNS_MAX);
                    for (to, place) in picked.iter_mut().zip(places.iter()) {
                        *to = place.map_or(Some(digits.as_bytes()), |place| all[place]);
                    }
                    reply::row(packets, headings, &picked[..width], is_binary);
                    *sent += 1;
                    *left -= 1;
                    *left > 0
                })
            }
            Output::Sums(totals) => {
                let more = self.filter.step(table, &mut self.cursor, |key, row| {
                    *read += 1;
                    totals.iter_mut().for_each(|total| total.add(key, row));
                    true
                });
                if more {
                    return true;
                }
                if self.left > 0 && self.skip == 0 {
                    let texts: Vec<_> = totals.iter().map(Total::text).collect();
                    let texts: Vec<_> = texts.iter().map(Option::as_deref).collect();
                    reply::row(packets, headings, &texts, is_binary);
                    *sent += 1;
                }
                false
            }
        }
    }
}

impl Total {
    fn add(&mut self, key: i64, row: &[u8]) {
        let Some(place) = self.of else {
            self.count += 1;
            return;
        };
        let digits;
        let text = match place {
            None => {
                if self.sum == Sum::Sum {
                    self.count += 1;
                    self.total += i128::from(key);
                    return;
                }
                digits = key.to_string();
                digits.as_bytes()
            }
            Some(place) => match cells(row).nth(place).flatten() {
                Some(text) => text,
                None => return,
            },
        };
        self.count += 1;
        match self.sum {
            Sum::Count => {}
            Sum::Sum => self.total += i128::from(number(text).unwrap_or(0)),
            Sum::Min | Sum::Max => {
                let ordering = self.best.as_deref().map(|best| match self.is_text {
                    true => text.cmp(best),
                    false => number(text).cmp(&number(best)),
                });
                let is_better = ordering.is_none_or(|ordering| match self.sum {
                    Sum::Min => ordering.is_lt(),
                    _ => ordering.is_gt(),
                });
                if is_better {
                    self.best = Some(text.to_vec());
                }
            }
        }
    }

    fn text(&self) -> Option<Vec<u8>> {
        match self.sum {
            Sum::Count => Some(self.count.to_string().into_bytes()),
            Sum::Sum => (self.count > 0).then(|| self.total.to_string().into_bytes()),
            Sum::Min | Sum::Max => self.best.clone(),
        }
    }
}
