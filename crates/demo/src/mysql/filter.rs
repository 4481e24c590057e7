//! WHERE: which rows, and in which order they are read.

use std::borrow::Cow;

use super::bind::{Argument, Value, number, value};
use super::page::PAGE_ROWS;
use super::row::cells;
use super::statement::{Operator, Scalar, Test};
use super::table::{Kind, Table};
use super::trouble::Trouble;

/// A WHERE with its values: keys, and what else must hold.
#[derive(Debug)]
pub(crate) struct Filter {
    low: i64,
    high: i64,
    /// In order; then `low` and `high` are of no matter.
    list: Option<Vec<i64>>,
    checks: Vec<Check>,
}

#[derive(Debug)]
enum Check {
    Never,
    Null(Option<usize>, bool),
    Compare(Option<usize>, Operator, Match),
    In(Option<usize>, Vec<Match>),
}

#[derive(Debug)]
enum Match {
    Number(i64),
    Text(Vec<u8>),
}

impl Filter {
    pub(crate) fn new(table: &Table, tests: &[Test], args: &[Argument]) -> Result<Self, Trouble> {
        let mut filter = Self { low: i64::MIN, high: i64::MAX, list: None, checks: Vec::new() };
        for test in tests {
            filter.add(table, test, args)?;
        }
        Ok(filter)
    }

    fn add(&mut self, table: &Table, test: &Test, args: &[Argument]) -> Result<(), Trouble> {
        let (Test::Compare(name, ..)
        | Test::Between(name, ..)
        | Test::In(name, _)
        | Test::IsNull(name, _)) = test;
        let index = table.column(name).ok_or_else(|| Trouble::no_column(name, "where clause"))?;
        let (place, kind) = (table.place(index), table.columns[index].kind);
        let is_key = table.key == Some(index);
        let matched = |scalar: &Scalar| {
            Ok::<_, Trouble>(match (value(scalar, args)?, kind) {
                (Value::Null | Value::Default, _) => None,
                (value, Kind::Int { .. }) => value.number().map(Match::Number),
                (Value::Int(value), _) => Some(Match::Text(value.to_string().into_bytes())),
                (Value::Text(text), _) => Some(Match::Text(text.to_vec())),
            })
        };
        match test {
            Test::Compare(_, operator, scalar) => match matched(scalar)? {
                None => self.checks.push(Check::Never),
                Some(Match::Number(value)) if is_key && *operator != Operator::Unequal => {
                    self.narrow(*operator, value);
                }
                Some(value) => self.checks.push(Check::Compare(place, *operator, value)),
            },
            Test::Between(_, low, high) => {
                for (operator, scalar) in [(Operator::AtLeast, low), (Operator::AtMost, high)] {
                    match matched(scalar)? {
                        None => self.checks.push(Check::Never),
                        Some(Match::Number(value)) if is_key => self.narrow(operator, value),
                        Some(value) => self.checks.push(Check::Compare(place, operator, value)),
                    }
                }
            }
            Test::In(_, scalars) => {
                let mut all = Vec::with_capacity(scalars.len());
                for scalar in scalars {
                    all.extend(matched(scalar)?);
                }
                if is_key && self.list.is_none() {
                    let mut keys: Vec<i64> = all
                        .iter()
                        .filter_map(
                            |one| if let Match::Number(key) = one { Some(*key) } else { None },
                        )
                        .collect();
                    keys.sort_unstable();
                    keys.dedup();
                    self.list = Some(keys);
                } else {
                    self.checks.push(Check::In(place, all));
                }
            }
            Test::IsNull(_, is_null) => self.checks.push(Check::Null(place, *is_null)),
        }
        Ok(())
    }

    fn narrow(&mut self, operator: Operator, value: i64) {
        let (low, high) = match operator {
            Operator::Equal => (Some(value), Some(value)),
            Operator::AtLeast => (Some(value), None),
            Operator::AtMost => (None, Some(value)),
            Operator::Greater if value == i64::MAX => return self.checks.push(Check::Never),
            Operator::Less if value == i64::MIN => return self.checks.push(Check::Never),
            Operator::Greater => (Some(value + 1), None),
            Operator::Less => (None, Some(value - 1)),
            Operator::Unequal => unreachable!("it narrows nothing"),
        };
        self.low = self.low.max(low.unwrap_or(i64::MIN));
        self.high = self.high.min(high.unwrap_or(i64::MAX));
    }

    /// Hands rows that match to `each`, a page of them at the most, until it says `false`.
    ///
    /// Returns whether there may be more.
    pub(crate) fn step(
        &self,
        table: &Table,
        cursor: &mut Cursor,
        mut each: impl FnMut(i64, &[u8]) -> bool,
    ) -> bool {
        let Some(at) = cursor.at(self) else { return false };
        if let Some(list) = &self.list {
            let left = &list[..list.len() - cursor.done];
            let (fore, aft) = (list[cursor.done..].iter(), left.iter().rev());
            let turn: &mut dyn Iterator<Item = &i64> =
                if cursor.is_down { &mut { aft } } else { &mut { fore } };
            for key in turn.take(PAGE_ROWS) {
                cursor.done += 1;
                if !(self.low..=self.high).contains(key) {
                    continue;
                }
                if let Some(row) = table.row(*key)
                    && self.holds(*key, row)
                    && !each(*key, row)
                {
                    return false;
                }
            }
            return cursor.done < list.len();
        }
        let page = if cursor.is_down { table.page_to(at) } else { table.page_from(at) };
        let Some(page) = page else { return false };
        let keys = page.keys();
        let mut visit = |index: usize| {
            let key = keys[index];
            let row = page.row(index);
            !self.holds(key, row) || each(key, row)
        };
        let (from, to) = (page.find(at.max(self.low)), page.find(at.min(self.high)));
        let (goes_on, next) = if cursor.is_down {
            let low = page.find(self.low).unwrap_or_else(|index| index);
            let end = to.map_or_else(|index| index, |index| index + 1);
            ((low..end).rev().all(&mut visit), keys[0].checked_sub(1))
        } else {
            let begin = from.unwrap_or_else(|index| index);
            let end = page.find(self.high).map_or_else(|index| index, |index| index + 1);
            ((begin..end.max(begin)).all(&mut visit), keys[keys.len() - 1].checked_add(1))
        };
        cursor.next = next.filter(|_| goes_on);
        cursor.begun = true;
        cursor.at(self).is_some()
    }

    fn holds(&self, key: i64, row: &[u8]) -> bool {
        self.checks.iter().all(|check| {
            let cell = |place: &Option<usize>| match place {
                None => Some(Cow::Owned(key.to_string().into_bytes())),
                Some(place) => cells(row).nth(*place).flatten().map(Cow::Borrowed),
            };
            match check {
                Check::Never => false,
                Check::Null(place, is_null) => cell(place).is_none() == *is_null,
                Check::Compare(place, operator, with) => {
                    cell(place).is_some_and(|cell| with.compare(*operator, &cell))
                }
                Check::In(place, all) => cell(place).is_some_and(|cell| {
                    all.iter().any(|with| with.compare(Operator::Equal, &cell))
                }),
            }
        })
    }
}

impl Match {
    /// Whether the cell is as the operator wants it beside this value.
    fn compare(&self, operator: Operator, cell: &[u8]) -> bool {
        let ordering = match self {
            Self::Number(value) => number(cell).map(|cell| cell.cmp(value)),
            Self::Text(text) if cell.eq_ignore_ascii_case(text) => Some(std::cmp::Ordering::Equal),
            Self::Text(text) => Some(cell.cmp(text)),
        };
        ordering.is_some_and(|ordering| match operator {
            Operator::Equal => ordering.is_eq(),
            Operator::Unequal => ordering.is_ne(),
            Operator::Less => ordering.is_lt(),
            Operator::AtMost => ordering.is_le(),
            Operator::Greater => ordering.is_gt(),
            Operator::AtLeast => ordering.is_ge(),
        })
    }
}

/// How far the rows of a filter were read.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    pub(crate) is_down: bool,
    begun: bool,
    next: Option<i64>,
    /// Of a list of keys.
    done: usize,
}

impl Cursor {
    /// The key to go on at; `None`: it is over.
    fn at(&self, filter: &Filter) -> Option<i64> {
        let first = if self.is_down { filter.high } else { filter.low };
        let at = if self.begun { self.next? } else { first };
        (filter.low..=filter.high).contains(&at).then_some(at)
    }
}
