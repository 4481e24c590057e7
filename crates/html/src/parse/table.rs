//! The rules in tables (13.2.6.4.9 to 15).
#![allow(clippy::unnested_or_patterns, reason = "the standard's groups of elements are macros")]

use super::stack::{Context, Scope};
use super::{IsConsumed, Kind, Mode, Parser};
use crate::name::Name;

/// What begins another part of the table.
macro_rules! part {
    () => {
        Name::CAPTION | Name::COL | Name::COLGROUP | Name::TBODY | Name::TFOOT | Name::THEAD
    };
}

const SECTIONS: [Name; 3] = [Name::TBODY, Name::THEAD, Name::TFOOT];
const CELLS: [Name; 2] = [Name::TD, Name::TH];

impl Parser<'_> {
    pub(super) fn in_table(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Text => {
                self.keep_letters(|letter| letter != '\0');
                if self.is_part_of_table(self.top()) && self.is_blank() {
                    self.add_text(self.token.text);
                    return true;
                }
            }
            Kind::Start => {
                if let Some(is_consumed) = self.start_in_table() {
                    return is_consumed;
                }
            }
            Kind::End => match self.token.name {
                Name::TABLE => {
                    if self.close_until(Scope::Table, &[Name::TABLE]) {
                        self.reset_mode();
                    }
                    return true;
                }
                part!() | Name::BODY | Name::HTML | Name::TD | Name::TH | Name::TR => return true,
                Name::TEMPLATE => return self.in_head(),
                _ => {}
            },
            Kind::Comment => {
                self.add_comment();
                return true;
            }
            Kind::Doctype => return true,
            Kind::Eof => return self.in_body(),
        }
        self.is_fostering = true;
        let is_consumed = self.in_body();
        self.is_fostering = false;
        is_consumed
    }

    /// `None` if it does not belong in a table.
    fn start_in_table(&mut self) -> Option<IsConsumed> {
        Some(match self.token.name {
            Name::CAPTION => {
                self.clear_to(Context::Table);
                self.formatting.push(None);
                self.add_element();
                self.mode = Mode::InCaption;
                true
            }
            Name::COLGROUP => {
                self.clear_to(Context::Table);
                self.add_element();
                self.mode = Mode::InColumnGroup;
                true
            }
            Name::COL => {
                self.imply(Kind::Start, Name::COLGROUP);
                false
            }
            Name::TBODY | Name::TFOOT | Name::THEAD => {
                self.clear_to(Context::Table);
                self.add_element();
                self.mode = Mode::InTableBody;
                true
            }
            Name::TD | Name::TH | Name::TR => {
                self.imply(Kind::Start, Name::TBODY);
                false
            }
            Name::TABLE => {
                let has_ended = self.close_until(Scope::Table, &[Name::TABLE]);
                if has_ended {
                    self.reset_mode();
                }
                !has_ended
            }
            Name::STYLE | Name::SCRIPT | Name::TEMPLATE => self.in_head(),
            Name::INPUT if self.is_hidden_input() => {
                self.add_element();
                self.open.pop();
                true
            }
            Name::FORM => {
                if self.is_open(Name::TEMPLATE) || self.form.is_some() {
                    return Some(true);
                }
                self.add_element();
                self.form = self.open.pop();
                // As in Go, it is then looked at again, and left out for there is a form.
                return None;
            }
            _ => return None,
        })
    }

    pub(super) fn in_caption(&mut self) -> IsConsumed {
        let (is_start, is_end) = (self.token.kind == Kind::Start, self.token.kind == Kind::End);
        match self.token.name {
            part!() | Name::TD | Name::TR if is_start => !self.end_caption(),
            Name::CAPTION if is_end => {
                self.end_caption();
                true
            }
            Name::TABLE if is_end => !self.end_caption(),
            part!() | Name::BODY | Name::HTML | Name::TD | Name::TH | Name::TR if is_end => true,
            _ => self.in_body(),
        }
    }

    /// Whether there was one.
    fn end_caption(&mut self) -> bool {
        let has_ended = self.close_until(Scope::Table, &[Name::CAPTION]);
        if has_ended {
            self.clear_formatting();
            self.mode = Mode::InTable;
        }
        has_ended
    }

    pub(super) fn in_column_group(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Text if self.add_space() => return true,
            Kind::Comment => {
                self.add_comment();
                return true;
            }
            Kind::Doctype => return true,
            Kind::Start => match self.token.name {
                Name::HTML => return self.in_body(),
                Name::COL => {
                    self.add_void_element();
                    return true;
                }
                Name::TEMPLATE => return self.in_head(),
                _ => {}
            },
            Kind::End => match self.token.name {
                Name::COLGROUP => {
                    self.end_column_group();
                    return true;
                }
                Name::COL => return true,
                Name::TEMPLATE => return self.in_head(),
                _ => {}
            },
            Kind::Eof => return self.in_body(),
            Kind::Text => {}
        }
        !self.end_column_group()
    }

    /// Whether one was open.
    fn end_column_group(&mut self) -> bool {
        let is_open = self.top_is(Name::COLGROUP);
        if is_open {
            self.open.pop();
            self.mode = Mode::InTable;
        }
        is_open
    }

    pub(super) fn in_table_body(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Start => match self.token.name {
                Name::TR => {
                    self.clear_to(Context::TableBody);
                    self.add_element();
                    self.mode = Mode::InRow;
                    return true;
                }
                Name::TD | Name::TH => {
                    self.imply(Kind::Start, Name::TR);
                    return false;
                }
                part!() => return !self.end_section(),
                _ => {}
            },
            Kind::End => match self.token.name {
                Name::TBODY | Name::TFOOT | Name::THEAD => {
                    if self.is_in_scope(Scope::Table, self.token.name) {
                        self.clear_to(Context::TableBody);
                        self.open.pop();
                        self.mode = Mode::InTable;
                    }
                    return true;
                }
                Name::TABLE => return !self.end_section(),
                Name::BODY
                | Name::CAPTION
                | Name::COL
                | Name::COLGROUP
                | Name::HTML
                | Name::TD
                | Name::TH
                | Name::TR => return true,
                _ => {}
            },
            _ => {}
        }
        self.in_table()
    }

    /// Whether one was open.
    fn end_section(&mut self) -> bool {
        let has_ended = self.close_until(Scope::Table, &SECTIONS);
        if has_ended {
            self.mode = Mode::InTable;
        }
        has_ended
    }

    pub(super) fn in_row(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Start => match self.token.name {
                Name::TD | Name::TH => {
                    self.clear_to(Context::Row);
                    self.add_element();
                    self.formatting.push(None);
                    self.mode = Mode::InCell;
                    return true;
                }
                part!() | Name::TR => return !self.end_row(),
                _ => {}
            },
            Kind::End => match self.token.name {
                Name::TR => {
                    self.end_row();
                    return true;
                }
                Name::TABLE => return !self.end_row(),
                Name::TBODY | Name::TFOOT | Name::THEAD => {
                    return !(self.is_in_scope(Scope::Table, self.token.name) && self.end_row());
                }
                Name::BODY
                | Name::CAPTION
                | Name::COL
                | Name::COLGROUP
                | Name::HTML
                | Name::TD
                | Name::TH => return true,
                _ => {}
            },
            _ => {}
        }
        self.in_table()
    }

    /// Whether one was open.
    fn end_row(&mut self) -> bool {
        let is_open = self.is_in_scope(Scope::Table, Name::TR);
        if is_open {
            self.clear_to(Context::Row);
            self.open.pop();
            self.mode = Mode::InTableBody;
        }
        is_open
    }

    pub(super) fn in_cell(&mut self) -> IsConsumed {
        let name = self.token.name;
        match self.kind() {
            Kind::Start => {
                if matches!(name, part!() | Name::TD | Name::TH | Name::TR) {
                    return !self.end_cell(&CELLS);
                }
            }
            Kind::End => match name {
                Name::TD | Name::TH => {
                    self.end_cell(&[name]);
                    return true;
                }
                Name::BODY | Name::CAPTION | Name::COL | Name::COLGROUP | Name::HTML => {
                    return true;
                }
                Name::TABLE | Name::TBODY | Name::TFOOT | Name::THEAD | Name::TR => {
                    if !self.is_in_scope(Scope::Table, name) {
                        return true;
                    }
                    self.end_cell(&CELLS);
                    self.mode = Mode::InRow;
                    return false;
                }
                _ => {}
            },
            _ => {}
        }
        self.in_body()
    }

    /// Whether one was open.
    fn end_cell(&mut self, names: &[Name]) -> bool {
        let has_ended = self.close_until(Scope::Table, names);
        if has_ended {
            self.clear_formatting();
            self.mode = Mode::InRow;
        }
        has_ended
    }
}
