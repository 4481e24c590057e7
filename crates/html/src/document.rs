//! The tree.

use std::num::NonZeroU32;

use crate::name::{Name, NameTest};

/// Names a node of a [`Document`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(NonZeroU32);

impl NodeId {
    pub(crate) fn of_index(index: usize) -> Self {
        let number = u32::try_from(index).ok().and_then(|index| NonZeroU32::new(index + 1));
        Self(number.expect("a document has fewer nodes than its limit"))
    }

    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A piece of the document's text, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) const EMPTY: Self = Self { start: 0, end: 0 };
}

/// An attribute as a document keeps it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) prefix: Prefix,
    pub(crate) name: Name,
    pub(crate) value: Span,
}

/// The prefix of some attributes of foreign elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Prefix {
    None,
    Xlink,
    Xml,
    Xmlns,
}

/// An attribute of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attribute<'a> {
    prefix: Prefix,
    name: &'a str,
    value: &'a str,
}

impl<'a> Attribute<'a> {
    /// The name without its prefix.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The value; empty if none was written.
    pub fn value(&self) -> &'a str {
        self.value
    }

    /// The prefix (`xlink`, `xml`, `xmlns`) that foreign elements' attributes may have, or nothing.
    pub fn prefix(&self) -> &'static str {
        match self.prefix {
            Prefix::None => "",
            Prefix::Xlink => "xlink",
            Prefix::Xml => "xml",
            Prefix::Xmlns => "xmlns",
        }
    }
}

/// The namespace of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Namespace {
    Html,
    Math,
    Svg,
}

/// The content of a node; lists are those of the document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    Document,
    /// Its place among the doctypes.
    Doctype(u32),
    Text(Span),
    /// A text that was put together: its place among those.
    Joined(u32),
    Comment(Span),
    Element {
        namespace: Namespace,
        name: Name,
        /// The place of the first attribute, and their number.
        attributes: (u32, u32),
    },
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Doctype {
    pub(crate) name: String,
    pub(crate) public: String,
    pub(crate) system: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) parent: Option<NodeId>,
    pub(crate) first: Option<NodeId>,
    pub(crate) last: Option<NodeId>,
    pub(crate) previous: Option<NodeId>,
    pub(crate) next: Option<NodeId>,
    pub(crate) content: Content,
}

impl Node {
    /// A node that is nowhere yet.
    pub(crate) fn new(content: Content) -> Self {
        Self { parent: None, first: None, last: None, previous: None, next: None, content }
    }
}

/// The kind of a node; the numbers are the DOM's `nodeType`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An element.
    Element = 1,
    /// Text.
    Text = 3,
    /// A comment.
    Comment = 8,
    /// The root of it all.
    Document = 9,
    /// `<!DOCTYPE …>`.
    Doctype = 10,
}

/// A parsed document. It never changes.
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) nodes: Vec<Node>,
    pub(crate) attributes: Vec<Entry>,
    /// All texts, comments and values of attributes, one behind the other.
    pub(crate) text: String,
    /// Texts that were not in one piece.
    pub(crate) joined: Vec<String>,
    /// The names that are not among the known ones.
    pub(crate) names: Vec<Box<str>>,
    pub(crate) doctypes: Vec<Doctype>,
}

impl Document {
    /// The node that all others are below of.
    pub fn root(&self) -> NodeId {
        NodeId::of_index(0)
    }

    /// How many nodes there are, those included that parsing has left without a parent.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: there is always the root.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub(crate) fn span(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    pub(crate) fn name_text(&self, name: Name) -> &str {
        name.text().unwrap_or_else(|index| self.names.get(index).map_or("", |name| name))
    }

    /// The node's kind.
    pub fn kind(&self, id: NodeId) -> Kind {
        match self.node(id).content {
            Content::Document => Kind::Document,
            Content::Doctype(_) => Kind::Doctype,
            Content::Text(_) | Content::Joined(_) => Kind::Text,
            Content::Comment(_) => Kind::Comment,
            Content::Element { .. } => Kind::Element,
        }
    }

    /// Whether it is an element.
    pub fn is_element(&self, id: NodeId) -> bool {
        matches!(self.node(id).content, Content::Element { .. })
    }

    /// A doctype's public and system identifiers; empty for other nodes.
    pub fn ids(&self, id: NodeId) -> (&str, &str) {
        match self.node(id).content {
            Content::Doctype(index) => {
                let doctype = &self.doctypes[index as usize];
                (&doctype.public, &doctype.system)
            }
            _ => ("", ""),
        }
    }

    /// An element's name, `""` for other nodes.
    pub fn tag(&self, id: NodeId) -> &str {
        self.element_name(id).map_or("", |name| self.name_text(name))
    }

    pub(crate) fn element_name(&self, id: NodeId) -> Option<Name> {
        match self.node(id).content {
            Content::Element { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Whether this is an element of that name.
    pub(crate) fn is_named(&self, id: NodeId, test: &NameTest) -> bool {
        self.element_name(id).is_some_and(|name| self.is_name(name, test))
    }

    fn is_name(&self, name: Name, test: &NameTest) -> bool {
        match test.known() {
            Some(known) => name == known,
            None => self.name_text(name) == test.text(),
        }
    }

    /// The DOM's `nodeName`, but in lower case as written: `div`, `#text`, `#comment`, `#document`.
    pub fn name(&self, id: NodeId) -> &str {
        match self.node(id).content {
            Content::Element { name, .. } => self.name_text(name),
            Content::Text(_) | Content::Joined(_) => "#text",
            Content::Comment(_) => "#comment",
            Content::Document => "#document",
            Content::Doctype(index) => &self.doctypes[index as usize].name,
        }
    }

    pub(crate) fn element_namespace(&self, id: NodeId) -> Option<Namespace> {
        match self.node(id).content {
            Content::Element { namespace, .. } => Some(namespace),
            _ => None,
        }
    }

    /// The address of an element's namespace; `None` for other nodes.
    pub fn namespace(&self, id: NodeId) -> Option<&'static str> {
        self.element_namespace(id).map(|namespace| match namespace {
            Namespace::Html => "http://www.w3.org/1999/xhtml",
            Namespace::Math => "http://www.w3.org/1998/Math/MathML",
            Namespace::Svg => "http://www.w3.org/2000/svg",
        })
    }

    /// The content of text and comments. `None` for other nodes.
    pub fn value(&self, id: NodeId) -> Option<&str> {
        match self.node(id).content {
            Content::Comment(span) => Some(self.span(span)),
            _ => self.text_of(id),
        }
    }

    /// The content of a text node.
    pub(crate) fn text_of(&self, id: NodeId) -> Option<&str> {
        match self.node(id).content {
            Content::Text(span) => Some(self.span(span)),
            Content::Joined(index) => Some(&self.joined[index as usize]),
            _ => None,
        }
    }

    pub(crate) fn entries(&self, id: NodeId) -> &[Entry] {
        match self.node(id).content {
            Content::Element { attributes: (start, count), .. } => {
                &self.attributes[start as usize..][..count as usize]
            }
            _ => &[],
        }
    }

    /// An element's attributes, in their order.
    pub fn attributes(&self, id: NodeId) -> impl ExactSizeIterator<Item = Attribute<'_>> {
        self.entries(id).iter().map(|entry| Attribute {
            prefix: entry.prefix,
            name: self.name_text(entry.name),
            value: self.span(entry.value),
        })
    }

    /// The value of an attribute.
    pub fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        let known = Name::known(name);
        let mut entries = self.entries(id).iter();
        let found = match known {
            Some(known) => entries.find(|entry| entry.name == known),
            None => entries.find(|entry| self.name_text(entry.name) == name),
        };
        found.map(|entry| self.span(entry.value))
    }

    pub(crate) fn attribute_known(&self, id: NodeId, name: Name) -> Option<&str> {
        let mut entries = self.entries(id).iter();
        entries.find(|entry| entry.name == name).map(|entry| self.span(entry.value))
    }

    pub(crate) fn attribute_tested(&self, id: NodeId, test: &NameTest) -> Option<&str> {
        let mut entries = self.entries(id).iter();
        entries.find(|entry| self.is_name(entry.name, test)).map(|entry| self.span(entry.value))
    }

    /// Whether the element has the attribute.
    pub fn has(&self, id: NodeId, name: &str) -> bool {
        self.attribute(id, name).is_some()
    }

    /// The node that it is a child of.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent
    }

    /// The first child.
    pub fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).first
    }

    /// The last child.
    pub fn last_child(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).last
    }

    /// The child of the same parent that comes before it.
    pub fn previous(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).previous
    }

    /// The child of the same parent that comes after it.
    pub fn next(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).next
    }

    /// The children, in order.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.first_child(id), |&child| self.next(child))
    }

    /// The children that are elements.
    pub fn child_elements(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        self.children(id).filter(|&child| self.is_element(child))
    }

    /// The nodes before it with the same parent, the nearest first.
    pub fn before(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.previous(id), |&node| self.previous(node))
    }

    /// The nodes after it with the same parent, the nearest first.
    pub fn after(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.next(id), |&node| self.next(node))
    }

    /// Its parent, the parent's parent and so on.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.parent(id), |&node| self.parent(node))
    }

    /// All that is below it, in the document's order. However deep the tree, this needs no stack.
    pub fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let mut at = self.first_child(id);
        std::iter::from_fn(move || {
            let node = at?;
            at = self.first_child(node).or_else(|| self.past(node, id));
            Some(node)
        })
    }

    /// The next node after a node and all below it, within `top`.
    fn past(&self, mut node: NodeId, top: NodeId) -> Option<NodeId> {
        while node != top {
            if let Some(next) = self.next(node) {
                return Some(next);
            }
            node = self.parent(node)?;
        }
        None
    }

    /// Whether `inner` is somewhere below `outer`.
    pub fn is_below(&self, inner: NodeId, outer: NodeId) -> bool {
        self.ancestors(inner).any(|node| node == outer)
    }

    /// All text at and below the node.
    pub fn text(&self, id: NodeId) -> String {
        let mut text = String::new();
        self.add_text(id, &mut text);
        text
    }

    /// The same, behind what is there.
    pub fn add_text(&self, id: NodeId, to: &mut String) {
        to.push_str(self.text_of(id).unwrap_or(""));
        for node in self.descendants(id) {
            to.push_str(self.text_of(node).unwrap_or(""));
        }
    }

    pub(crate) fn own_text(&self, id: NodeId) -> String {
        self.children(id).filter_map(|child| self.text_of(child)).collect()
    }

    /// The nearest element around the node that has this name, itself included.
    pub fn closest_tag(&self, id: NodeId, tag: &str) -> Option<NodeId> {
        std::iter::once(id).chain(self.ancestors(id)).find(|&node| self.tag(node) == tag)
    }

    /// The first element with this `id`.
    pub fn by_id(&self, wanted: &str) -> Option<NodeId> {
        self.descendants(self.root())
            .find(|&node| self.attribute_known(node, Name::ID) == Some(wanted))
    }
}
