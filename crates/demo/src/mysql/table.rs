//! A table: its columns, and its rows in pages.

use std::collections::BTreeMap;

use super::page::{PAGE_ROWS, Page};

/// The most columns of a table, and of a result.
pub(crate) const COLUMNS_MAX: usize = 64;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A whole number of so and so many bits.
    Int { bits: u32, unsigned: bool },
    /// A text, with the most characters.
    Text { most: usize },
}

#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) is_nullable: bool,
    pub(crate) default: Option<Box<[u8]>>,
    /// AUTO_INCREMENT.
    pub(crate) is_counted: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// Its name may change, its number does not.
    pub(crate) number: u64,
    pub(crate) columns: Vec<Column>,
    /// The column that is the primary key. Rows of a table without one are numbered out of sight.
    pub(crate) key: Option<usize>,
    /// The next id that AUTO_INCREMENT gives out.
    pub(crate) next: i64,
    pages: BTreeMap<i64, Page>,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

impl Table {
    pub(crate) fn new(number: u64, columns: Vec<Column>, key: Option<usize>) -> Self {
        Self { number, columns, key, next: 1, pages: BTreeMap::new(), rows: 0, bytes: 0 }
    }

    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// The place of a column in the rows of the pages; `None`: it is the key.
    pub(crate) fn place(&self, column: usize) -> Option<usize> {
        match self.key {
            Some(key) if key == column => None,
            Some(key) if key < column => Some(column - 1),
            _ => Some(column),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.pages.clear();
        (self.rows, self.bytes, self.next) = (0, 0, 1);
    }

    pub(crate) fn row(&self, key: i64) -> Option<&[u8]> {
        let (_, page) = self.pages.range(..=key).next_back()?;
        page.find(key).ok().map(|index| page.row(index))
    }

    /// The first page that has a key from this one on.
    pub(crate) fn page_from(&self, key: i64) -> Option<&Page> {
        let here = self.pages.range(..=key).next_back().map(|(_, page)| page);
        let here = here.filter(|page| page.keys().last().is_some_and(|last| *last >= key));
        let next = || self.pages.range(key..).map(|(_, page)| page).next();
        here.or_else(next)
    }

    /// The last page that has a key up to this one.
    pub(crate) fn page_to(&self, key: i64) -> Option<&Page> {
        let pages = self.pages.range(..=key).rev().map(|(_, page)| page);
        pages.into_iter().find(|page| page.keys().first().is_some_and(|first| *first <= key))
    }

    /// Puts a row in. `false`: its key is there already, and nothing changed.
    pub(crate) fn insert(&mut self, key: i64, row: &[u8]) -> bool {
        let bound = self.pages.range(..=key).next_back().map(|(bound, _)| *bound);
        let Some(bound) = bound else {
            match self.pages.first_entry() {
                Some(first) if first.get().len() < PAGE_ROWS => {
                    let mut page = first.remove();
                    page.insert(0, key, row);
                    self.pages.insert(key, page);
                    self.count(row);
                }
                _ => self.fresh(key, row),
            }
            return true;
        };
        let mut page = self.pages.get_mut(&bound).expect("the bound is of a page");
        let Err(mut index) = page.find(key) else { return false };
        if page.len() >= PAGE_ROWS {
            if index == page.len() {
                self.fresh(key, row);
                return true;
            }
            let upper = page.split();
            let first = upper.keys()[0];
            let half = page.len();
            let upper = self.pages.entry(first).or_insert(upper);
            if key > first {
                index -= half;
                page = upper;
            } else {
                page = self.pages.get_mut(&bound).expect("it is there");
            }
        }
        page.insert(index, key, row);
        self.count(row);
        true
    }

    fn fresh(&mut self, key: i64, row: &[u8]) {
        let mut page = Page::default();
        page.insert(0, key, row);
        self.pages.insert(key, page);
        self.count(row);
    }

    fn count(&mut self, row: &[u8]) {
        self.rows += 1;
        self.bytes += row.len() as u64;
    }

    /// Changes a row that is there; else nothing.
    pub(crate) fn replace(&mut self, key: i64, row: &[u8]) {
        let Some((_, page)) = self.pages.range_mut(..=key).next_back() else { return };
        let Ok(index) = page.find(key) else { return };
        let before = page.size() as u64;
        page.replace(index, row);
        self.bytes = self.bytes + page.size() as u64 - before;
    }

    /// Takes a row out, if it is there.
    pub(crate) fn remove(&mut self, key: i64) {
        let Some((&bound, page)) = self.pages.range_mut(..=key).next_back() else { return };
        let Ok(index) = page.find(key) else { return };
        let before = page.size();
        page.remove(index);
        self.bytes -= (before - page.size()) as u64;
        self.rows -= 1;
        if page.len() == 0 {
            self.pages.remove(&bound);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn rows_in_any_order_are_those_of_a_map() {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut table = Table::new(1, Vec::new(), Some(0));
        let mut model: BTreeMap<i64, Vec<u8>> = BTreeMap::new();
        for _ in 0..20_000 {
            let key = rng.i64(-2000..2000);
            let row = vec![b'x'; rng.usize(0..40)];
            match rng.u8(0..4) {
                0 => {
                    table.remove(key);
                    model.remove(&key);
                }
                1 => {
                    table.replace(key, &row);
                    model.entry(key).and_modify(|old| old.clone_from(&row));
                }
                _ => {
                    let is_new = !model.contains_key(&key);
                    assert_eq!(table.insert(key, &row), is_new);
                    model.entry(key).or_insert(row);
                }
            }
        }
        let (mut at, mut read) = (i64::MIN, Vec::new());
        while let Some(page) = table.page_from(at) {
            let keys = page.keys().iter().enumerate().filter(|(_, key)| **key >= at);
            read.extend(keys.map(|(index, key)| (*key, page.row(index).to_vec())));
            at = page.keys()[page.len() - 1] + 1;
        }
        assert_eq!(read, model.clone().into_iter().collect::<Vec<_>>());
        let (mut at, mut back) = (i64::MAX, Vec::new());
        while let Some(page) = table.page_to(at) {
            back.extend(page.keys().iter().rev().filter(|key| **key <= at).copied());
            at = page.keys()[0] - 1;
        }
        assert_eq!(back, model.keys().rev().copied().collect::<Vec<_>>());
        assert_eq!(table.rows, model.len() as u64);
        assert_eq!(table.bytes, model.values().map(|row| row.len() as u64).sum::<u64>());
        for key in -2000..2000 {
            assert_eq!(table.row(key), model.get(&key).map(Vec::as_slice));
        }
    }
}
