//! The rules before, behind and beside the body (13.2.6.4.1 to 8 and 18 to 23).

use super::{IsConsumed, Kind, Mode, Parser};
use crate::document::{Content, Span};
use crate::name::Name;

pub(super) const SPACE: [char; 5] = [' ', '\t', '\r', '\n', '\u{c}'];

/// What belongs in the head, wherever it comes.
macro_rules! of_head {
    () => {
        Name::BASE
            | Name::BASEFONT
            | Name::BGSOUND
            | Name::LINK
            | Name::META
            | Name::NOFRAMES
            | Name::SCRIPT
            | Name::STYLE
            | Name::TEMPLATE
            | Name::TITLE
    };
}
pub(super) use of_head;

impl Parser<'_> {
    pub(super) fn kind(&self) -> Kind {
        self.token.kind
    }

    pub(super) fn text(&self) -> &str {
        self.document.span(self.token.text)
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text().trim_start_matches(SPACE).is_empty()
    }

    /// Takes the white space off the token's text, if it begins with some.
    fn take_space(&mut self) -> Span {
        let whole = self.token.text;
        let rest = self.text().trim_start_matches(SPACE).len() as u32;
        let middle = whole.end - rest;
        self.token.text = Span { start: middle, end: whole.end };
        Span { start: whole.start, end: middle }
    }

    /// Adds the white space that the text begins with; whether nothing is left of it.
    pub(super) fn add_space(&mut self) -> bool {
        let space = self.take_space();
        self.add_text(space);
        self.token.text.is_empty() && !space.is_empty()
    }

    /// Leaves out white space that the text begins with; whether nothing is left.
    fn drop_space(&mut self) -> bool {
        self.take_space();
        self.token.text.is_empty()
    }

    /// The text made anew of the letters that are wanted.
    pub(super) fn keep_letters(&mut self, wanted: impl Fn(char) -> bool) {
        if self.text().chars().all(&wanted) {
            return;
        }
        let kept: String = self.text().chars().filter(|&letter| wanted(letter)).collect();
        self.replace_text(&kept);
    }

    pub(super) fn replace_text(&mut self, text: &str) {
        let start = self.document.text.len() as u32;
        self.document.text.push_str(text);
        self.token.text = Span { start, end: self.document.text.len() as u32 };
    }

    /// A text whose end tag alone ends it.
    pub(super) fn begin_raw_text(&mut self) {
        self.add_element();
        self.original = Some(self.mode);
        self.mode = Mode::Text;
    }

    pub(super) fn initial(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Text if self.drop_space() => return true,
            Kind::Comment => {
                self.add_comment_to(self.document.root());
                return true;
            }
            Kind::Doctype => {
                let (doctype, is_quirky) = super::doctype::read(self.text());
                let index = self.document.doctypes.len() as u32;
                self.document.doctypes.push(doctype);
                let node = self.make(Content::Doctype(index));
                self.append(self.document.root(), node);
                self.is_quirky = is_quirky;
                self.mode = Mode::BeforeHtml;
                return true;
            }
            _ => {}
        }
        self.is_quirky = true;
        self.mode = Mode::BeforeHtml;
        false
    }

    pub(super) fn before_html(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Doctype => return true,
            Kind::Text if self.drop_space() => return true,
            Kind::Start if self.token.name == Name::HTML => {
                self.add_element();
                self.mode = Mode::BeforeHead;
                return true;
            }
            Kind::End
                if !matches!(self.token.name, Name::HEAD | Name::BODY | Name::HTML | Name::BR) =>
            {
                return true;
            }
            Kind::Comment => {
                self.add_comment_to(self.document.root());
                return true;
            }
            _ => {}
        }
        self.imply(Kind::Start, Name::HTML);
        false
    }

    pub(super) fn before_head(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Text if self.drop_space() => return true,
            Kind::Start if self.token.name == Name::HEAD => {
                self.add_element();
                self.head = Some(self.top());
                self.mode = Mode::InHead;
                return true;
            }
            Kind::Start if self.token.name == Name::HTML => return self.in_body(),
            Kind::End
                if !matches!(self.token.name, Name::HEAD | Name::BODY | Name::HTML | Name::BR) =>
            {
                return true;
            }
            Kind::Comment => {
                self.add_comment();
                return true;
            }
            Kind::Doctype => return true,
            _ => {}
        }
        self.imply(Kind::Start, Name::HEAD);
        false
    }

    pub(super) fn in_head(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Text if self.add_space() => return true,
            Kind::Start => match self.token.name {
                Name::HTML => return self.in_body(),
                Name::BASE | Name::BASEFONT | Name::BGSOUND | Name::LINK | Name::META => {
                    self.add_void_element();
                    return true;
                }
                Name::NOSCRIPT | Name::NOFRAMES | Name::STYLE | Name::SCRIPT | Name::TITLE => {
                    self.begin_raw_text();
                    return true;
                }
                Name::HEAD => return true,
                Name::TEMPLATE => {
                    self.begin_template();
                    return true;
                }
                _ => {}
            },
            Kind::End => match self.token.name {
                Name::HEAD => {
                    self.open.pop();
                    self.mode = Mode::AfterHead;
                    return true;
                }
                Name::BODY | Name::HTML | Name::BR => {}
                Name::TEMPLATE => {
                    if self.is_open(Name::TEMPLATE) {
                        self.close_template();
                    }
                    return true;
                }
                _ => return true,
            },
            Kind::Comment => {
                self.add_comment();
                return true;
            }
            Kind::Doctype => return true,
            _ => {}
        }
        self.imply(Kind::End, Name::HEAD);
        false
    }

    fn begin_template(&mut self) {
        if self.open.iter().any(|&node| !self.is_in_html(node)) {
            self.mode = Mode::IgnoreTheRest;
            return;
        }
        self.add_element();
        self.formatting.push(None);
        self.is_frameset_ok = false;
        self.mode = Mode::InTemplate;
        self.templates.push(Mode::InTemplate);
    }

    pub(super) fn after_head(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Text if self.add_space() => return true,
            Kind::Start => match self.token.name {
                Name::HTML => return self.in_body(),
                Name::BODY => {
                    self.add_element();
                    self.is_frameset_ok = false;
                    self.mode = Mode::InBody;
                    return true;
                }
                Name::FRAMESET => {
                    self.add_element();
                    self.mode = Mode::InFrameset;
                    return true;
                }
                of_head!() => {
                    let Some(head) = self.head else { return true };
                    self.push_open(head);
                    let is_consumed = self.in_head();
                    self.close(head);
                    return is_consumed;
                }
                Name::HEAD => return true,
                _ => {}
            },
            Kind::End => match self.token.name {
                Name::BODY | Name::HTML | Name::BR => {}
                Name::TEMPLATE => return self.in_head(),
                _ => return true,
            },
            Kind::Comment => {
                self.add_comment();
                return true;
            }
            Kind::Doctype => return true,
            _ => {}
        }
        self.imply(Kind::Start, Name::BODY);
        self.is_frameset_ok = true;
        self.token.kind == Kind::Eof
    }

    pub(super) fn in_text(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Text => {
                if self.top_is(Name::TEXTAREA) && !self.has_children(self.top()) {
                    self.drop_line_break();
                }
                self.add_text(self.token.text);
                return true;
            }
            Kind::Eof | Kind::End => {
                self.open.pop();
            }
            _ => {}
        }
        self.mode = self.original.take().unwrap_or(Mode::InBody);
        self.token.kind == Kind::End
    }

    /// Leaves out the line break that a text begins with.
    pub(super) fn drop_line_break(&mut self) {
        self.token.text.start += u32::from(self.text().starts_with('\n'));
    }

    pub(super) fn in_template(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Text | Kind::Comment | Kind::Doctype => self.in_body(),
            Kind::Start => {
                let mode = match self.token.name {
                    of_head!() => return self.in_head(),
                    Name::CAPTION | Name::COLGROUP | Name::TBODY | Name::TFOOT | Name::THEAD => {
                        Mode::InTable
                    }
                    Name::COL => Mode::InColumnGroup,
                    Name::TR => Mode::InTableBody,
                    Name::TD | Name::TH => Mode::InRow,
                    _ => Mode::InBody,
                };
                self.templates.pop();
                self.templates.push(mode);
                self.mode = mode;
                false
            }
            Kind::End if self.token.name == Name::TEMPLATE => self.in_head(),
            Kind::End => true,
            Kind::Eof => {
                if !self.is_open(Name::TEMPLATE) {
                    return true;
                }
                self.close_template();
                false
            }
        }
    }

    pub(super) fn after_body(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Eof => return true,
            Kind::Text if self.is_blank() => return self.in_body(),
            Kind::Start if self.token.name == Name::HTML => return self.in_body(),
            Kind::End if self.token.name == Name::HTML => {
                self.mode = Mode::AfterAfterBody;
                return true;
            }
            Kind::Comment => {
                let root = self.open.first().copied().unwrap_or(self.document.root());
                self.add_comment_to(root);
                return true;
            }
            _ => {}
        }
        self.mode = Mode::InBody;
        false
    }

    pub(super) fn in_frameset(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Comment => self.add_comment(),
            Kind::Text => self.add_only_space(),
            Kind::Start => match self.token.name {
                Name::HTML => return self.in_body(),
                Name::FRAMESET => self.add_element(),
                Name::FRAME => self.add_void_element(),
                Name::NOFRAMES => return self.in_head(),
                _ => {}
            },
            Kind::End if self.token.name == Name::FRAMESET && !self.top_is(Name::HTML) => {
                self.open.pop();
                if !self.top_is(Name::FRAMESET) {
                    self.mode = Mode::AfterFrameset;
                }
            }
            _ => {}
        }
        true
    }

    fn add_only_space(&mut self) {
        self.keep_letters(|letter| SPACE.contains(&letter));
        self.add_text(self.token.text);
    }

    pub(super) fn after_frameset(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Comment => self.add_comment(),
            Kind::Text => self.add_only_space(),
            Kind::Start if self.token.name == Name::HTML => return self.in_body(),
            Kind::Start if self.token.name == Name::NOFRAMES => return self.in_head(),
            Kind::End if self.token.name == Name::HTML => self.mode = Mode::AfterAfterFrameset,
            _ => {}
        }
        true
    }

    pub(super) fn after_after_body(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Eof => return true,
            Kind::Text if self.is_blank() => return self.in_body(),
            Kind::Start if self.token.name == Name::HTML => return self.in_body(),
            Kind::Comment => {
                self.add_comment_to(self.document.root());
                return true;
            }
            Kind::Doctype => return self.in_body(),
            _ => {}
        }
        self.mode = Mode::InBody;
        false
    }

    pub(super) fn after_after_frameset(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Comment => self.add_comment_to(self.document.root()),
            Kind::Text => {
                self.keep_letters(|letter| SPACE.contains(&letter));
                if !self.token.text.is_empty() {
                    return self.in_body();
                }
            }
            Kind::Start if self.token.name == Name::HTML => return self.in_body(),
            Kind::Start if self.token.name == Name::NOFRAMES => return self.in_head(),
            Kind::Doctype => return self.in_body(),
            _ => {}
        }
        true
    }
}
