//! How nodes come into the tree, and out of it.

use super::{ParseError, Parser};
use crate::document::{Content, Entry, Namespace, Node, NodeId, Span};
use crate::name::Name;

impl Parser<'_> {
    fn node(&self, id: NodeId) -> &Node {
        &self.document.nodes[id.index()]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.document.nodes[id.index()]
    }

    pub(super) fn make(&mut self, content: Content) -> NodeId {
        let id = NodeId::of_index(self.document.nodes.len());
        self.document.nodes.push(Node {
            parent: None,
            first: None,
            last: None,
            previous: None,
            next: None,
            content,
        });
        if self.document.nodes.len() > self.nodes_max {
            self.error = self.error.or(Some(ParseError::Nodes));
        }
        id
    }

    pub(super) fn detach(&mut self, id: NodeId) {
        let node = self.node_mut(id);
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        let Some(parent) = parent else { return };
        match previous {
            Some(previous) => self.node_mut(previous).next = next,
            None => self.node_mut(parent).first = next,
        }
        match next {
            Some(next) => self.node_mut(next).previous = previous,
            None => self.node_mut(parent).last = previous,
        }
    }

    /// Puts a node that has no parent before `next`, or at the end.
    fn attach(&mut self, parent: NodeId, id: NodeId, next: Option<NodeId>) {
        let previous = match next {
            Some(next) => self.node_mut(next).previous.replace(id),
            None => self.node_mut(parent).last.replace(id),
        };
        match previous {
            Some(previous) => self.node_mut(previous).next = Some(id),
            None => self.node_mut(parent).first = Some(id),
        }
        let node = self.node_mut(id);
        (node.parent, node.previous, node.next) = (Some(parent), previous, next);
    }

    pub(super) fn append(&mut self, parent: NodeId, id: NodeId) {
        self.attach(parent, id, None);
    }

    pub(super) fn move_children(&mut self, from: NodeId, to: NodeId) {
        while let Some(child) = self.node(from).first {
            self.detach(child);
            self.append(to, child);
        }
    }

    pub(super) fn has_children(&self, id: NodeId) -> bool {
        self.node(id).first.is_some()
    }

    /// Puts a node in the innermost open element, or where its fosterers want it.
    pub(super) fn add(&mut self, id: NodeId) {
        if self.should_foster() {
            self.foster(id);
        } else {
            self.append(self.top(), id);
        }
    }

    pub(super) fn add_comment(&mut self) {
        let comment = self.make(Content::Comment(self.token.text));
        self.add(comment);
    }

    pub(super) fn add_comment_to(&mut self, parent: NodeId) {
        let comment = self.make(Content::Comment(self.token.text));
        self.append(parent, comment);
    }

    /// Adds the element that the token begins, and opens it.
    pub(super) fn add_element(&mut self) {
        self.add_element_in(Namespace::Html);
    }

    pub(super) fn add_element_in(&mut self, namespace: Namespace) {
        let attributes = self.add_attributes();
        let element = self.make(Content::Element { namespace, name: self.token.name, attributes });
        self.add(element);
        self.push_open(element);
    }

    /// Adds an element that is closed at once.
    pub(super) fn add_void_element(&mut self) {
        self.add_element();
        self.open.pop();
        self.is_self_closing = false;
    }

    fn add_attributes(&mut self) -> (u32, u32) {
        let start = self.document.attributes.len();
        self.document.attributes.extend_from_slice(&self.token.attributes);
        self.check_attributes();
        (start as u32, self.token.attributes.len() as u32)
    }

    fn check_attributes(&mut self) {
        if self.document.attributes.len() > self.nodes_max {
            self.error = self.error.or(Some(ParseError::Nodes));
        }
    }

    /// The same element again, without what is in it.
    pub(super) fn copy(&mut self, id: NodeId) -> NodeId {
        self.make(self.node(id).content)
    }

    /// Gives an element the token's attributes that it does not have.
    pub(super) fn add_missing_attributes(&mut self, id: NodeId) {
        let known = self.document.entries(id).to_vec();
        let is_new = |one: &&Entry| known.iter().all(|other| other.name != one.name);
        let new: Vec<_> = self.token.attributes.iter().filter(is_new).copied().collect();
        if new.is_empty() {
            return;
        }
        // The list of an element lies in one piece: it moves to the end. This happens to `html` and `body` only, once
        // for each tag that repeats them.
        let (start, count) = (self.document.attributes.len(), known.len() + new.len());
        self.document.attributes.extend(known);
        self.document.attributes.extend(new);
        self.check_attributes();
        if let Content::Element { attributes, .. } = &mut self.node_mut(id).content {
            *attributes = (start as u32, count as u32);
        }
    }

    /// Sorts an element's attributes, as Go does with those of formatting.
    pub(super) fn sort_attributes(&mut self, id: NodeId) {
        let Content::Element { attributes: (start, count), .. } = self.node(id).content else {
            return;
        };
        if count < 2 {
            return;
        }
        let range = start as usize..(start + count) as usize;
        let mut sorted = self.document.attributes[range.clone()].to_vec();
        let key = |entry: &Entry| {
            (entry.prefix, self.document.name_text(entry.name), self.document.span(entry.value))
        };
        sorted.sort_by(|one, other| key(one).cmp(&key(other)));
        self.document.attributes[range].copy_from_slice(&sorted);
    }

    pub(super) fn have_same_attributes(&self, one: NodeId, other: NodeId) -> bool {
        let (one, other) = (self.document.entries(one), self.document.entries(other));
        let is_same = |(one, other): (&Entry, &Entry)| {
            one.prefix == other.prefix
                && one.name == other.name
                && self.document.span(one.value) == self.document.span(other.value)
        };
        one.len() == other.len() && one.iter().zip(other).all(is_same)
    }

    /// Adds the token's text, to the text before it if there is one.
    pub(super) fn add_text(&mut self, text: Span) {
        if text.is_empty() {
            return;
        }
        if self.should_foster() {
            let node = self.make(Content::Text(text));
            self.foster(node);
            return;
        }
        let top = self.top();
        let last = self.node(top).last;
        if last.is_some_and(|last| self.join(last, text)) {
            return;
        }
        let node = self.make(Content::Text(text));
        self.append(top, node);
    }

    /// Adds text to a text node; whether it is one.
    fn join(&mut self, to: NodeId, text: Span) -> bool {
        let joined = match self.node(to).content {
            Content::Text(known) if known.end == text.start => {
                let whole = Span { start: known.start, end: text.end };
                self.node_mut(to).content = Content::Text(whole);
                return true;
            }
            Content::Text(known) => {
                let index = self.document.joined.len();
                self.document.joined.push(self.document.span(known).to_owned());
                self.node_mut(to).content = Content::Joined(index as u32);
                index
            }
            Content::Joined(index) => index as usize,
            _ => return false,
        };
        let range = text.start as usize..text.end as usize;
        self.document.joined[joined].push_str(&self.document.text[range]);
        true
    }

    fn should_foster(&self) -> bool {
        self.is_fostering && self.is_part_of_table(self.top())
    }

    /// What must not have text or other elements in it.
    pub(super) fn is_part_of_table(&self, id: NodeId) -> bool {
        matches!(
            self.document.element_name(id),
            Some(Name::TABLE | Name::TBODY | Name::TFOOT | Name::THEAD | Name::TR)
        )
    }

    /// Puts a node before the table that it stands in but must not.
    pub(super) fn foster(&mut self, id: NodeId) {
        let last_open = |name: Name| {
            self.open.iter().rposition(|&node| self.document.element_name(node) == Some(name))
        };
        let (table, template) = (last_open(Name::TABLE), last_open(Name::TEMPLATE));
        if let Some(template) = template
            && table.is_none_or(|table| template > table)
        {
            self.append(self.open[template], id);
            return;
        }
        let root = self.open.first().copied().unwrap_or(self.document.root());
        let parent = match table {
            None => root,
            Some(place) => match self.node(self.open[place]).parent {
                Some(parent) => parent,
                None => self.open[place.saturating_sub(1)],
            },
        };
        let table = table.map(|place| self.open[place]);
        // A table without a parent cannot have something before it there.
        let next = table.filter(|&table| self.node(table).parent == Some(parent));
        let previous = match table {
            Some(table) => self.node(table).previous,
            None => self.node(parent).last,
        };
        if let Content::Text(text) = self.node(id).content
            && previous.is_some_and(|previous| self.join(previous, text))
        {
            return;
        }
        self.attach(parent, id, next);
    }
}
