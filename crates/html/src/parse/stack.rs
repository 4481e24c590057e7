//! The elements that are open, and those of formatting.

use super::{DEPTH_MAX, Mode, ParseError, Parser};
use crate::document::{Content, Namespace, NodeId};
use crate::name::Name;

/// How far up an element may be to be closed or counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scope {
    Default,
    ListItem,
    Button,
    Table,
}

/// To where the stack is cleared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Context {
    Table,
    TableBody,
    Row,
}

impl Parser<'_> {
    /// The innermost open element; the document if there is none.
    pub(super) fn top(&self) -> NodeId {
        self.open.last().copied().unwrap_or(self.document.root())
    }

    pub(super) fn name(&self, id: NodeId) -> Option<Name> {
        self.document.element_name(id)
    }

    pub(super) fn top_is(&self, name: Name) -> bool {
        self.name(self.top()) == Some(name)
    }

    pub(super) fn is_in_html(&self, id: NodeId) -> bool {
        self.document.element_namespace(id) == Some(Namespace::Html)
    }

    pub(super) fn push_open(&mut self, id: NodeId) {
        self.open.push(id);
        if self.open.len() > DEPTH_MAX {
            self.error = self.error.or(Some(ParseError::Depth));
        }
    }

    pub(super) fn close(&mut self, id: NodeId) {
        if let Some(place) = self.open.iter().rposition(|&node| node == id) {
            self.open.remove(place);
        }
    }

    /// Whether an element of HTML with this name is open.
    pub(super) fn is_open(&self, name: Name) -> bool {
        self.open.iter().any(|&node| self.is_in_html(node) && self.name(node) == Some(name))
    }

    /// The place of the innermost element of these names, if nothing hides it.
    pub(super) fn place_in_scope(&self, scope: Scope, names: &[Name]) -> Option<usize> {
        for (place, &node) in self.open.iter().enumerate().rev() {
            let Content::Element { namespace, name, .. } = self.document.node(node).content else {
                continue;
            };
            let is_html = namespace == Namespace::Html;
            if is_html && names.contains(&name) {
                return Some(place);
            }
            let hides = match scope {
                Scope::Default => hides(namespace, name),
                Scope::ListItem => {
                    hides(namespace, name) || (is_html && matches!(name, Name::OL | Name::UL))
                }
                Scope::Button => hides(namespace, name) || (is_html && name == Name::BUTTON),
                Scope::Table => {
                    is_html && matches!(name, Name::HTML | Name::TABLE | Name::TEMPLATE)
                }
            };
            if hides {
                return None;
            }
        }
        None
    }

    pub(super) fn is_in_scope(&self, scope: Scope, name: Name) -> bool {
        self.place_in_scope(scope, &[name]).is_some()
    }

    /// Closes all up to and with the innermost element of these names; whether there was one in scope.
    pub(super) fn close_until(&mut self, scope: Scope, names: &[Name]) -> bool {
        let place = self.place_in_scope(scope, names);
        if let Some(place) = place {
            self.open.truncate(place);
        }
        place.is_some()
    }

    pub(super) fn close_paragraph(&mut self) {
        self.close_until(Scope::Button, &[Name::P]);
    }

    /// Closes what does not belong in the part of a table.
    pub(super) fn clear_to(&mut self, context: Context) {
        let place = self.open.iter().rposition(|&node| match self.name(node) {
            Some(Name::HTML | Name::TEMPLATE) => true,
            Some(Name::TABLE) => context == Context::Table,
            Some(Name::TBODY | Name::TFOOT | Name::THEAD) => context == Context::TableBody,
            Some(Name::TR) => context == Context::Row,
            _ => false,
        });
        if let Some(place) = place {
            self.open.truncate(place + 1);
        }
    }

    /// Closes elements whose end tags may be left out, but for this one.
    pub(super) fn close_implied(&mut self, but: Option<Name>) {
        while let Some(name) = self.open.last().and_then(|&node| self.name(node)) {
            let is_implied = matches!(
                name,
                Name::DD
                    | Name::DT
                    | Name::LI
                    | Name::OPTGROUP
                    | Name::OPTION
                    | Name::P
                    | Name::RB
                    | Name::RP
                    | Name::RT
                    | Name::RTC
            );
            if !is_implied || but == Some(name) {
                return;
            }
            self.open.pop();
        }
    }

    /// Closes the innermost template.
    pub(super) fn close_template(&mut self) {
        self.close_implied(None);
        let place = self
            .open
            .iter()
            .rposition(|&node| self.is_in_html(node) && self.name(node) == Some(Name::TEMPLATE));
        if let Some(place) = place {
            self.open.truncate(place);
        }
        self.clear_formatting();
        self.templates.pop();
        self.reset_mode();
    }

    /// The mode that the open elements ask for.
    pub(super) fn reset_mode(&mut self) {
        for (place, &node) in self.open.iter().enumerate().rev() {
            let mode = match self.name(node) {
                Some(Name::TD | Name::TH) => Mode::InCell,
                Some(Name::TR) => Mode::InRow,
                Some(Name::TBODY | Name::THEAD | Name::TFOOT) => Mode::InTableBody,
                Some(Name::CAPTION) => Mode::InCaption,
                Some(Name::COLGROUP) => Mode::InColumnGroup,
                Some(Name::TABLE) => Mode::InTable,
                Some(Name::TEMPLATE) if self.is_in_html(node) => {
                    self.templates.last().copied().unwrap_or(Mode::InBody)
                }
                Some(Name::TEMPLATE) => continue,
                Some(Name::HEAD) => Mode::InHead,
                Some(Name::BODY) => Mode::InBody,
                Some(Name::FRAMESET) => Mode::InFrameset,
                Some(Name::HTML) if self.head.is_none() => Mode::BeforeHead,
                Some(Name::HTML) => Mode::AfterHead,
                _ if place == 0 => Mode::InBody,
                _ => continue,
            };
            self.mode = mode;
            return;
        }
    }

    /// Adds an element of formatting. Of three that are the same, the first is not opened again.
    pub(super) fn add_formatting_element(&mut self) {
        self.add_element();
        let top = self.top();
        self.sort_attributes(top);
        let mut same_count = 0;
        let mut place = self.formatting.len();
        while place > 0 {
            place -= 1;
            let Some(node) = self.formatting[place] else { break };
            if self.is_in_html(node)
                && self.name(node) == self.name(top)
                && self.have_same_attributes(node, top)
            {
                same_count += 1;
                if same_count >= 3 {
                    self.formatting.remove(place);
                }
            }
        }
        self.formatting.push(Some(top));
    }

    pub(super) fn clear_formatting(&mut self) {
        while let Some(Some(_)) = self.formatting.pop() {}
    }

    pub(super) fn formatting_place(&self, id: NodeId) -> Option<usize> {
        self.formatting.iter().rposition(|&node| node == Some(id))
    }

    pub(super) fn remove_formatting(&mut self, id: NodeId) {
        if let Some(place) = self.formatting_place(id) {
            self.formatting.remove(place);
        }
    }

    /// Opens again what was closed by the end of something around it.
    pub(super) fn reopen_formatting(&mut self) {
        let is_done = |entry: &Option<NodeId>| match entry {
            None => true,
            Some(node) => self.open.contains(node),
        };
        if self.formatting.last().is_none_or(is_done) {
            return;
        }
        let first = self.formatting.iter().rposition(is_done).map_or(0, |place| place + 1);
        for place in first..self.formatting.len() {
            let Some(node) = self.formatting[place] else { continue };
            let copy = self.copy(node);
            self.add(copy);
            self.push_open(copy);
            self.formatting[place] = Some(copy);
        }
    }
}

/// What ends most scopes.
fn hides(namespace: Namespace, name: Name) -> bool {
    match namespace {
        Namespace::Html => matches!(
            name,
            Name::APPLET
                | Name::CAPTION
                | Name::HTML
                | Name::TABLE
                | Name::TD
                | Name::TH
                | Name::MARQUEE
                | Name::OBJECT
                | Name::TEMPLATE
                | Name::SELECT
        ),
        Namespace::Math => matches!(
            name,
            Name::ANNOTATION_XML | Name::MI | Name::MN | Name::MO | Name::MS | Name::MTEXT
        ),
        Namespace::Svg => matches!(name, Name::DESC | Name::TITLE | Name::FOREIGN_OBJECT),
    }
}
