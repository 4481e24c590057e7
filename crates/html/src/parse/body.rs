//! The rules in the body (13.2.6.4.7).
#![allow(clippy::unnested_or_patterns, reason = "the standard's groups of elements are macros")]

use super::modes::{SPACE, of_head};
use super::stack::Scope;
use super::{IsConsumed, Kind, Mode, Parser};
use crate::document::{Content, Namespace, NodeId};
use crate::name::Name;

/// What has rules of its own and ends the search for others.
pub(super) fn is_special(namespace: Namespace, name: Name) -> bool {
    match namespace {
        Namespace::Html => is_special_html(name),
        Namespace::Math => matches!(
            name,
            Name::MI | Name::MO | Name::MN | Name::MS | Name::MTEXT | Name::ANNOTATION_XML
        ),
        Namespace::Svg => matches!(name, Name::FOREIGN_OBJECT | Name::DESC | Name::TITLE),
    }
}

#[rustfmt::skip]
fn is_special_html(name: Name) -> bool {
    matches!(
        name,
        Name::ADDRESS | Name::APPLET | Name::AREA | Name::ARTICLE | Name::ASIDE | Name::BASE | Name::BASEFONT
            | Name::BGSOUND | Name::BLOCKQUOTE | Name::BODY | Name::BR | Name::BUTTON | Name::CAPTION | Name::CENTER
            | Name::COL | Name::COLGROUP | Name::DD | Name::DETAILS | Name::DIR | Name::DIV | Name::DL | Name::DT
            | Name::EMBED | Name::FIELDSET | Name::FIGCAPTION | Name::FIGURE | Name::FOOTER | Name::FORM | Name::FRAME
            | Name::FRAMESET | Name::H1 | Name::H2 | Name::H3 | Name::H4 | Name::H5 | Name::H6 | Name::HEAD
            | Name::HEADER | Name::HGROUP | Name::HR | Name::HTML | Name::IFRAME | Name::IMG | Name::INPUT
            | Name::KEYGEN | Name::LI | Name::LINK | Name::LISTING | Name::MAIN | Name::MARQUEE | Name::MENU
            | Name::META | Name::NAV | Name::NOEMBED | Name::NOFRAMES | Name::NOSCRIPT | Name::OBJECT | Name::OL
            | Name::P | Name::PARAM | Name::PLAINTEXT | Name::PRE | Name::SCRIPT | Name::SECTION | Name::SELECT
            | Name::SOURCE | Name::STYLE | Name::SUMMARY | Name::TABLE | Name::TBODY | Name::TD | Name::TEMPLATE
            | Name::TEXTAREA | Name::TFOOT | Name::TH | Name::THEAD | Name::TITLE | Name::TR | Name::TRACK | Name::UL
            | Name::WBR | Name::XMP
    )
}

/// Blocks that end a paragraph.
macro_rules! block {
    () => {
        Name::ADDRESS
            | Name::ARTICLE
            | Name::ASIDE
            | Name::BLOCKQUOTE
            | Name::CENTER
            | Name::DETAILS
            | Name::DIALOG
            | Name::DIR
            | Name::DIV
            | Name::DL
            | Name::FIELDSET
            | Name::FIGCAPTION
            | Name::FIGURE
            | Name::FOOTER
            | Name::HEADER
            | Name::HGROUP
            | Name::MAIN
            | Name::MENU
            | Name::NAV
            | Name::OL
            | Name::SEARCH
            | Name::SECTION
            | Name::SUMMARY
            | Name::UL
    };
}

macro_rules! heading {
    () => {
        Name::H1 | Name::H2 | Name::H3 | Name::H4 | Name::H5 | Name::H6
    };
}

const HEADINGS: [Name; 6] = [Name::H1, Name::H2, Name::H3, Name::H4, Name::H5, Name::H6];

impl Parser<'_> {
    pub(super) fn is_special(&self, id: NodeId) -> bool {
        match self.document.node(id).content {
            Content::Element { namespace, name, .. } => is_special(namespace, name),
            _ => false,
        }
    }

    pub(super) fn in_body(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Text => self.text_in_body(),
            Kind::Start => return self.start_in_body(),
            Kind::End => return self.end_in_body(),
            Kind::Comment => self.add_comment(),
            Kind::Doctype => {}
            Kind::Eof => {
                if !self.templates.is_empty() {
                    self.mode = Mode::InTemplate;
                    return false;
                }
            }
        }
        true
    }

    fn text_in_body(&mut self) {
        let top = self.top();
        if matches!(self.name(top), Some(Name::PRE | Name::LISTING)) && !self.has_children(top) {
            self.drop_line_break();
        }
        self.keep_letters(|letter| letter != '\0');
        if self.token.text.is_empty() {
            return;
        }
        self.reopen_formatting();
        self.add_text(self.token.text);
        if self.is_frameset_ok && !self.is_blank() {
            self.is_frameset_ok = false;
        }
    }

    fn start_in_body(&mut self) -> IsConsumed {
        match self.token.name {
            Name::HTML => {
                if !self.is_open(Name::TEMPLATE)
                    && let Some(&root) = self.open.first()
                {
                    self.add_missing_attributes(root);
                }
            }
            of_head!() => return self.in_head(),
            Name::BODY => {
                if !self.is_open(Name::TEMPLATE)
                    && let Some(&body) = self.open.get(1)
                    && self.name(body) == Some(Name::BODY)
                {
                    self.is_frameset_ok = false;
                    self.add_missing_attributes(body);
                }
            }
            Name::FRAMESET => self.frameset_in_body(),
            block!() | Name::P => {
                self.close_paragraph();
                self.add_element();
            }
            heading!() => {
                self.close_paragraph();
                if matches!(self.name(self.top()), Some(heading!())) {
                    self.open.pop();
                }
                self.add_element();
            }
            Name::PRE | Name::LISTING => {
                self.close_paragraph();
                self.add_element();
                self.is_frameset_ok = false;
            }
            Name::FORM => {
                let is_in_template = self.is_open(Name::TEMPLATE);
                if self.form.is_some() && !is_in_template {
                    return true;
                }
                self.close_paragraph();
                self.add_element();
                if !is_in_template {
                    self.form = Some(self.top());
                }
            }
            Name::LI => self.begin_item(&[Name::LI]),
            Name::DD | Name::DT => self.begin_item(&[Name::DD, Name::DT]),
            Name::PLAINTEXT => {
                self.close_paragraph();
                self.add_element();
            }
            Name::BUTTON => {
                if self.is_in_scope(Scope::Default, Name::BUTTON) {
                    self.close_implied(None);
                    self.close_until(Scope::Default, &[Name::BUTTON]);
                }
                self.reopen_formatting();
                self.add_element();
                self.is_frameset_ok = false;
            }
            Name::A => {
                self.close_link();
                self.reopen_formatting();
                self.add_formatting_element();
            }
            Name::B
            | Name::BIG
            | Name::CODE
            | Name::EM
            | Name::FONT
            | Name::I
            | Name::S
            | Name::SMALL
            | Name::STRIKE
            | Name::STRONG
            | Name::TT
            | Name::U => {
                self.reopen_formatting();
                self.add_formatting_element();
            }
            Name::NOBR => {
                self.reopen_formatting();
                if self.is_in_scope(Scope::Default, Name::NOBR) {
                    self.end_formatting(Name::NOBR);
                    self.reopen_formatting();
                }
                self.add_formatting_element();
            }
            Name::APPLET | Name::MARQUEE | Name::OBJECT => {
                self.reopen_formatting();
                self.add_element();
                self.formatting.push(None);
                self.is_frameset_ok = false;
            }
            Name::TABLE => {
                if !self.is_quirky {
                    self.close_paragraph();
                }
                self.add_element();
                self.is_frameset_ok = false;
                self.mode = Mode::InTable;
            }
            _ => return self.other_start_in_body(),
        }
        true
    }

    /// Those that are no blocks.
    fn other_start_in_body(&mut self) -> IsConsumed {
        match self.token.name {
            Name::AREA | Name::BR | Name::EMBED | Name::IMG | Name::KEYGEN | Name::WBR => {
                self.reopen_formatting();
                self.add_void_element();
                self.is_frameset_ok = false;
            }
            Name::INPUT => {
                self.close_until(Scope::Default, &[Name::SELECT]);
                self.reopen_formatting();
                self.add_void_element();
                if !self.is_hidden_input() {
                    self.is_frameset_ok = false;
                }
            }
            Name::PARAM | Name::SOURCE | Name::TRACK => self.add_void_element(),
            Name::HR => {
                if self.is_in_scope(Scope::Button, Name::P) {
                    self.close_implied(Some(Name::P));
                    self.close_until(Scope::Default, &[Name::P]);
                }
                if self.is_in_scope(Scope::Default, Name::SELECT) {
                    self.close_implied(None);
                }
                self.add_void_element();
                self.is_frameset_ok = false;
            }
            Name::IMAGE => {
                self.token.name = Name::IMG;
                return false;
            }
            Name::TEXTAREA => {
                self.begin_raw_text();
                self.is_frameset_ok = false;
            }
            Name::XMP => {
                self.close_paragraph();
                self.reopen_formatting();
                self.is_frameset_ok = false;
                self.begin_raw_text();
            }
            Name::IFRAME => {
                self.is_frameset_ok = false;
                self.begin_raw_text();
            }
            Name::NOEMBED | Name::NOSCRIPT => self.begin_raw_text(),
            Name::SELECT => {
                if !self.close_until(Scope::Default, &[Name::SELECT]) {
                    self.reopen_formatting();
                    self.add_element();
                    self.is_frameset_ok = false;
                }
            }
            Name::OPTION => self.begin_option(Some(Name::OPTGROUP)),
            Name::OPTGROUP => self.begin_option(None),
            Name::RB | Name::RTC | Name::RP | Name::RT => {
                if self.is_in_scope(Scope::Default, Name::RUBY) {
                    let is_text = matches!(self.token.name, Name::RP | Name::RT);
                    self.close_implied(is_text.then_some(Name::RTC));
                }
                self.add_element();
            }
            Name::MATH => self.begin_foreign(Namespace::Math),
            Name::SVG => self.begin_foreign(Namespace::Svg),
            Name::CAPTION
            | Name::COL
            | Name::COLGROUP
            | Name::FRAME
            | Name::HEAD
            | Name::TBODY
            | Name::TD
            | Name::TFOOT
            | Name::TH
            | Name::THEAD
            | Name::TR => {}
            _ => {
                self.reopen_formatting();
                self.add_element();
            }
        }
        true
    }

    fn frameset_in_body(&mut self) {
        let Some(&body) = self.open.get(1) else { return };
        if !self.is_frameset_ok || self.name(body) != Some(Name::BODY) {
            return;
        }
        self.detach(body);
        self.open.truncate(1);
        self.add_element();
        self.mode = Mode::InFrameset;
    }

    /// An item of a list ends the one before it.
    fn begin_item(&mut self, kin: &[Name]) {
        self.is_frameset_ok = false;
        for (place, &node) in self.open.iter().enumerate().rev() {
            if self.name(node).is_some_and(|name| kin.contains(&name)) {
                self.open.truncate(place);
                break;
            }
            let is_passed = matches!(self.name(node), Some(Name::ADDRESS | Name::DIV | Name::P));
            if !is_passed && self.is_special(node) {
                break;
            }
        }
        self.close_paragraph();
        self.add_element();
    }

    /// A link in a link ends it.
    fn close_link(&mut self) {
        let since_mark = self.formatting.iter().rev().map_while(|&node| node);
        let link = { since_mark }.find(|&node| self.name(node) == Some(Name::A));
        if let Some(link) = link {
            self.end_formatting(Name::A);
            self.close(link);
            self.remove_formatting(link);
        }
    }

    pub(super) fn is_hidden_input(&self) -> bool {
        let kind = self.token.attributes.iter().find(|entry| entry.name == Name::TYPE);
        kind.is_some_and(|kind| self.document.span(kind.value).eq_ignore_ascii_case("hidden"))
    }

    fn begin_option(&mut self, but: Option<Name>) {
        if self.is_in_scope(Scope::Default, Name::SELECT) {
            self.close_implied(but);
        } else if self.top_is(Name::OPTION) {
            self.open.pop();
        }
        self.reopen_formatting();
        self.add_element();
    }

    fn end_in_body(&mut self) -> IsConsumed {
        let name = self.token.name;
        match name {
            Name::BODY => {
                if self.is_in_scope(Scope::Default, Name::BODY) {
                    self.mode = Mode::AfterBody;
                }
            }
            Name::HTML => {
                if self.is_in_scope(Scope::Default, Name::BODY) {
                    self.imply(Kind::End, Name::BODY);
                    return false;
                }
            }
            block!() | Name::BUTTON | Name::LISTING | Name::PRE | Name::SELECT => {
                if self.is_in_scope(Scope::Default, name) {
                    self.close_implied(None);
                    self.close_until(Scope::Default, &[name]);
                }
            }
            Name::FORM => self.end_form(),
            Name::P => {
                if !self.is_in_scope(Scope::Button, Name::P) {
                    self.imply(Kind::Start, Name::P);
                }
                self.close_paragraph();
            }
            Name::LI => {
                self.close_until(Scope::ListItem, &[Name::LI]);
            }
            Name::DD | Name::DT => {
                self.close_until(Scope::Default, &[name]);
            }
            heading!() => {
                self.close_until(Scope::Default, &HEADINGS);
            }
            Name::A
            | Name::B
            | Name::BIG
            | Name::CODE
            | Name::EM
            | Name::FONT
            | Name::I
            | Name::NOBR
            | Name::S
            | Name::SMALL
            | Name::STRIKE
            | Name::STRONG
            | Name::TT
            | Name::U => self.end_formatting(name),
            Name::APPLET | Name::MARQUEE | Name::OBJECT => {
                if self.close_until(Scope::Default, &[name]) {
                    self.clear_formatting();
                }
            }
            Name::BR => {
                self.token.kind = Kind::Start;
                return false;
            }
            Name::TEMPLATE => return self.in_head(),
            _ => self.end_other(name),
        }
        true
    }

    fn end_form(&mut self) {
        if self.is_open(Name::TEMPLATE) {
            let Some(place) = self.place_in_scope(Scope::Default, &[Name::FORM]) else { return };
            self.close_implied(None);
            if self.open.get(place).is_some_and(|&node| self.name(node) == Some(Name::FORM)) {
                self.close_until(Scope::Default, &[Name::FORM]);
            }
            return;
        }
        let form = self.form.take();
        let place = self.place_in_scope(Scope::Default, &[Name::FORM]);
        if let (Some(form), Some(place)) = (form, place)
            && self.open[place] == form
        {
            self.close_implied(None);
            self.close(form);
        }
    }

    /// The end of an element without rules of its own.
    pub(super) fn end_other(&mut self, name: Name) {
        for (place, &node) in self.open.iter().enumerate().rev() {
            if self.is_in_html(node) && self.name(node) == Some(name) {
                self.open.truncate(place);
                return;
            }
            if self.is_special(node) {
                return;
            }
        }
    }
}

/// White space and zero bytes.
pub(super) fn is_blank_or_zero(text: &str) -> bool {
    text.trim_start_matches(|letter| letter == '\0' || SPACE.contains(&letter)).is_empty()
}
