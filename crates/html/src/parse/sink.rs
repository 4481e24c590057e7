//! The calls of html5ever's tree builder, each done to the flat [`Document`].

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, ns};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{DEPTH_MAX, ParseError};
use crate::document::{Content, Doctype, Document, Entry, Namespace, Node, NodeId, Prefix, Span};
use crate::name::Name;

/// A node, as the tree builder holds it: its place, and the name that the builder asks for again and again.
#[derive(Clone)]
pub(super) struct Handle {
    id: NodeId,
    name: Rc<QualName>,
}

/// The document that the tree builder writes to.
pub(super) struct Sink {
    tree: RefCell<Tree>,
    /// The first limit that was passed.
    error: Cell<Option<ParseError>>,
    /// The name of all nodes that are no elements.
    nameless: Rc<QualName>,
    nodes_max: usize,
}

struct Tree {
    document: Document,
    /// How many elements each node is in, itself included.
    depths: Vec<u16>,
    /// The names seen, as the document has them.
    names: FxHashMap<LocalName, Name>,
    /// The names of the elements seen, shared by their handles.
    elements: FxHashMap<QualName, Rc<QualName>>,
}

impl Sink {
    /// For a page of `page` bytes.
    pub(super) fn new(page: usize, nodes_max: usize) -> Self {
        let mut document = Document {
            nodes: Vec::with_capacity(page / 24 + 8),
            attributes: Vec::with_capacity(page / 64),
            text: String::with_capacity(page / 2),
            joined: Vec::new(),
            names: Vec::new(),
            doctypes: Vec::new(),
        };
        document.nodes.push(Node::new(Content::Document));
        let tree = Tree {
            document,
            depths: vec![0],
            names: FxHashMap::default(),
            elements: FxHashMap::default(),
        };
        let nameless = QualName::new(None, ns!(), LocalName::default());
        Self {
            tree: RefCell::new(tree),
            error: Cell::new(None),
            nameless: Rc::new(nameless),
            nodes_max,
        }
    }

    /// The limit that was passed, if one was.
    pub(super) fn error(&self) -> Option<ParseError> {
        self.error.get()
    }

    /// The finished document.
    pub(super) fn into_document(self) -> Result<Document, ParseError> {
        match self.error.get() {
            Some(error) => Err(error),
            None => Ok(self.tree.into_inner().document),
        }
    }

    /// Ends the parsing; the first reason stays.
    pub(super) fn fail(&self, error: ParseError) {
        self.error.set(self.error.get().or(Some(error)));
    }

    fn check(&self, tree: &Tree) {
        let document = &tree.document;
        if document.nodes.len().max(document.attributes.len()) > self.nodes_max {
            self.fail(ParseError::Nodes);
        }
    }

    fn make(&self, content: impl FnOnce(&mut Tree) -> Content) -> Handle {
        let mut tree = self.tree.borrow_mut();
        let content = content(&mut tree);
        let id = tree.make(content);
        self.check(&tree);
        Handle { id, name: Rc::clone(&self.nameless) }
    }

    /// Puts a node or a text into `parent`, before `next` or at the end.
    fn insert(&self, parent: NodeId, child: NodeOrText<Handle>, next: Option<NodeId>) {
        let mut tree = self.tree.borrow_mut();
        match child {
            NodeOrText::AppendText(text) => {
                tree.insert_text(parent, &text, next);
                self.check(&tree);
            }
            NodeOrText::AppendNode(node) => {
                tree.detach(node.id);
                tree.attach(parent, node.id, next);
                if tree.is_too_deep(node.id) {
                    self.fail(ParseError::Depth);
                }
            }
        }
    }
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Self;
    type ElemName<'a> = &'a QualName;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { id: NodeId::of_index(0), name: Rc::clone(&self.nameless) }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> &'a QualName {
        &target.name
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _flags: ElementFlags,
    ) -> Handle {
        let mut tree = self.tree.borrow_mut();
        let namespace = match name.ns {
            ns!(mathml) => Namespace::Math,
            ns!(svg) => Namespace::Svg,
            _ => Namespace::Html,
        };
        let local = tree.name(&name.local);
        let attributes = tree.add_attributes(&[], attributes);
        if namespace == Namespace::Html && is_formatting(local) {
            tree.sort_attributes(attributes);
        }
        let id = tree.make(Content::Element { namespace, name: local, attributes });
        self.check(&tree);
        Handle { id, name: tree.shared(name) }
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.make(|tree| Content::Comment(tree.add_text(&text)))
    }

    /// HTML has no processing instructions: its tokenizer makes comments of them.
    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Handle {
        self.make(|tree| Content::Comment(tree.add_text(&format!("?{target} {data}"))))
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.insert(parent.id, child, None);
    }

    fn append_before_sibling(&self, sibling: &Handle, node: NodeOrText<Handle>) {
        let parent = self.tree.borrow().document.parent(sibling.id);
        if let Some(parent) = parent {
            self.insert(parent, node, Some(sibling.id));
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        otherwise: &Handle,
        child: NodeOrText<Handle>,
    ) {
        let has_parent = self.tree.borrow().document.parent(element.id).is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(otherwise, child);
        }
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        let doctype = Doctype { name: name.into(), public: public.into(), system: system.into() };
        let node = self.make(|tree| {
            tree.document.doctypes.push(doctype);
            Content::Doctype(tree.document.doctypes.len() as u32 - 1)
        });
        self.insert(NodeId::of_index(0), NodeOrText::AppendNode(node), None);
    }

    /// The content of a template lies in the template itself, where selectors find it, as in k6 1.8.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        one.id == other.id
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        let mut tree = self.tree.borrow_mut();
        tree.add_missing_attributes(target.id, attributes);
        self.check(&tree);
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.tree.borrow_mut().detach(target.id);
    }

    fn reparent_children(&self, node: &Handle, parent: &Handle) {
        let mut tree = self.tree.borrow_mut();
        while let Some(child) = tree.document.first_child(node.id) {
            tree.detach(child);
            tree.attach(parent.id, child, None);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &Handle) -> bool {
        self.tree.borrow().document.holds_html(target.id)
    }

    /// A declared shadow root stays a template.
    fn allow_declarative_shadow_roots(&self, _parent: &Handle) -> bool {
        false
    }
}

impl Tree {
    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.document.nodes[id.index()]
    }

    fn make(&mut self, content: Content) -> NodeId {
        let id = NodeId::of_index(self.document.nodes.len());
        self.document.nodes.push(Node::new(content));
        self.depths.push(0);
        id
    }

    /// The document's number for a name.
    fn name(&mut self, text: &LocalName) -> Name {
        if let Some(&name) = self.names.get(text) {
            return name;
        }
        let name = Name::known(text).unwrap_or_else(|| {
            self.document.names.push((**text).into());
            Name::own(self.document.names.len() - 1)
        });
        self.names.insert(text.clone(), name);
        name
    }

    fn shared(&mut self, name: QualName) -> Rc<QualName> {
        if let Some(shared) = self.elements.get(&name) {
            return Rc::clone(shared);
        }
        let shared = Rc::new(name.clone());
        self.elements.insert(name, Rc::clone(&shared));
        shared
    }

    /// Puts text behind the document's text.
    fn add_text(&mut self, text: &str) -> Span {
        if text.is_empty() {
            return Span::EMPTY;
        }
        let start = self.document.text.len() as u32;
        self.document.text.push_str(text);
        Span { start, end: self.document.text.len() as u32 }
    }

    /// Puts attributes behind all others: those known already, then the new ones.
    fn add_attributes(&mut self, known: &[Entry], new: Vec<Attribute>) -> (u32, u32) {
        let start = self.document.attributes.len();
        self.document.attributes.extend_from_slice(known);
        for attribute in new {
            let prefix = match attribute.name.ns {
                ns!(xlink) => Prefix::Xlink,
                ns!(xml) => Prefix::Xml,
                ns!(xmlns) => Prefix::Xmlns,
                _ => Prefix::None,
            };
            let name = self.name(&attribute.name.local);
            let value = self.add_text(&attribute.value);
            self.document.attributes.push(Entry { prefix, name, value });
        }
        (start as u32, (self.document.attributes.len() - start) as u32)
    }

    /// The list of an element lies in one piece: it moves to the end if it grows. Only `html` and `body` grow, once for
    /// each tag that repeats them.
    fn add_missing_attributes(&mut self, id: NodeId, mut new: Vec<Attribute>) {
        let known = self.document.entries(id).to_vec();
        let names: FxHashSet<Name> = known.iter().map(|entry| entry.name).collect();
        new.retain(|attribute| !names.contains(&self.name(&attribute.name.local)));
        if new.is_empty() {
            return;
        }
        let list = self.add_attributes(&known, new);
        if let Content::Element { attributes, .. } = &mut self.node_mut(id).content {
            *attributes = list;
        }
    }

    fn sort_attributes(&mut self, (start, count): (u32, u32)) {
        if count < 2 {
            return;
        }
        let range = start as usize..(start + count) as usize;
        let mut sorted = self.document.attributes[range.clone()].to_vec();
        sorted.sort_by(|one, other| {
            let text = |entry: &Entry| (entry.prefix, self.document.name_text(entry.name));
            text(one).cmp(&text(other))
        });
        self.document.attributes[range].copy_from_slice(&sorted);
    }

    fn is_too_deep(&self, id: NodeId) -> bool {
        usize::from(self.depths[id.index()]) > DEPTH_MAX
            && self.document.element_name(id).is_some_and(|name| !name.is_void())
    }

    fn detach(&mut self, id: NodeId) {
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
        self.depths[id.index()] = self.depths[parent.index()].saturating_add(1);
    }

    /// Puts text before `next`, or at the end: into the text before it, if there is one.
    fn insert_text(&mut self, parent: NodeId, text: &str, next: Option<NodeId>) {
        let before = match next {
            Some(next) => self.document.previous(next),
            None => self.document.last_child(parent),
        };
        if before.is_some_and(|before| self.join(before, text)) {
            return;
        }
        let span = self.add_text(text);
        let node = self.make(Content::Text(span));
        self.attach(parent, node, next);
    }

    /// Adds to a text node; whether it is one.
    fn join(&mut self, id: NodeId, text: &str) -> bool {
        match self.document.node(id).content {
            Content::Text(known) if known.end as usize == self.document.text.len() => {
                let end = self.add_text(text).end;
                self.node_mut(id).content = Content::Text(Span { start: known.start, end });
            }
            Content::Text(known) => {
                let whole = self.document.span(known).to_owned() + text;
                self.document.joined.push(whole);
                let index = self.document.joined.len() - 1;
                self.node_mut(id).content = Content::Joined(index as u32);
            }
            Content::Joined(index) => self.document.joined[index as usize].push_str(text),
            _ => return false,
        }
        true
    }
}

/// The elements of formatting, whose attributes k6 1.8 shows in the order of their names.
fn is_formatting(name: Name) -> bool {
    matches!(
        name,
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
            | Name::U
    )
}
