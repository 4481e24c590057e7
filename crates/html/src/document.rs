//! The tree.

use std::num::NonZeroU32;
use std::ops::Range;

use html5ever::tendril::StrTendril;
use html5ever::{LocalName, Namespace, QualName, local_name, ns};

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

/// An attribute of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    name: QualName,
    value: StrTendril,
}

impl Attribute {
    pub(crate) fn new(name: QualName, value: StrTendril) -> Self {
        Self { name, value }
    }

    /// The name without its prefix.
    pub fn name(&self) -> &str {
        &self.name.local
    }

    /// The value; empty if none was written.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// The prefix (`xlink`, `xml`, `xmlns`) that foreign elements' attributes may have, or nothing.
    pub fn prefix(&self) -> &str {
        self.name.prefix.as_deref().unwrap_or("")
    }

    pub(crate) fn local(&self) -> &LocalName {
        &self.name.local
    }

    pub(crate) fn qualified(&self) -> &QualName {
        &self.name
    }
}

/// The name of an element.
#[derive(Clone, Debug)]
pub(crate) struct ElementName {
    pub(crate) namespace: Namespace,
    pub(crate) local: LocalName,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    Document,
    Doctype(Box<Doctype>),
    Text(StrTendril),
    Comment(StrTendril),
    /// The attributes are a piece of the document's list.
    Element(ElementName, Range<u32>),
}

#[derive(Clone, Debug)]
pub(crate) struct Doctype {
    pub(crate) name: StrTendril,
    pub(crate) public: StrTendril,
    pub(crate) system: StrTendril,
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

/// What a node is; the numbers are the DOM's `nodeType`.
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
    pub(crate) attributes: Vec<Attribute>,
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

    /// What the node is.
    pub fn kind(&self, id: NodeId) -> Kind {
        match self.node(id).content {
            Content::Document => Kind::Document,
            Content::Doctype(_) => Kind::Doctype,
            Content::Text(_) => Kind::Text,
            Content::Comment(_) => Kind::Comment,
            Content::Element(..) => Kind::Element,
        }
    }

    /// Whether it is an element.
    pub fn is_element(&self, id: NodeId) -> bool {
        matches!(self.node(id).content, Content::Element(..))
    }

    /// An element's name, `""` for other nodes.
    pub fn tag(&self, id: NodeId) -> &str {
        self.local(id).map_or("", |local| local)
    }

    pub(crate) fn local(&self, id: NodeId) -> Option<&LocalName> {
        match &self.node(id).content {
            Content::Element(name, _) => Some(&name.local),
            _ => None,
        }
    }

    /// The DOM's `nodeName`, but in lower case as written: `div`, `#text`, `#comment`, `#document`.
    pub fn name(&self, id: NodeId) -> &str {
        match &self.node(id).content {
            Content::Element(name, _) => &name.local,
            Content::Text(_) => "#text",
            Content::Comment(_) => "#comment",
            Content::Document => "#document",
            Content::Doctype(doctype) => &doctype.name,
        }
    }

    /// The address of an element's namespace; `None` for other nodes.
    pub fn namespace(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).content {
            Content::Element(name, _) => Some(&name.namespace),
            _ => None,
        }
    }

    pub(crate) fn is_html(&self, id: NodeId) -> bool {
        matches!(&self.node(id).content, Content::Element(name, _) if name.namespace == ns!(html))
    }

    /// Text and comments: what stands there. `None` for other nodes.
    pub fn value(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).content {
            Content::Text(text) | Content::Comment(text) => Some(text),
            _ => None,
        }
    }

    /// An element's attributes, in their order.
    pub fn attributes(&self, id: NodeId) -> &[Attribute] {
        match &self.node(id).content {
            Content::Element(_, range) => {
                &self.attributes[range.start as usize..range.end as usize]
            }
            _ => &[],
        }
    }

    /// The value of an attribute.
    pub fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        let mut attributes = self.attributes(id).iter();
        attributes.find(|attribute| attribute.name() == name).map(Attribute::value)
    }

    pub(crate) fn attribute_local(&self, id: NodeId, name: &LocalName) -> Option<&str> {
        let mut attributes = self.attributes(id).iter();
        attributes.find(|attribute| attribute.local() == name).map(Attribute::value)
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

    /// What comes after a node and all below it, within `top`.
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
        if let Content::Text(text) = &self.node(id).content {
            to.push_str(text);
        }
        for node in self.descendants(id) {
            if let Content::Text(text) = &self.node(node).content {
                to.push_str(text);
            }
        }
    }

    pub(crate) fn own_text(&self, id: NodeId) -> String {
        self.children(id)
            .filter(|&child| self.kind(child) == Kind::Text)
            .filter_map(|child| self.value(child))
            .collect()
    }

    /// The nearest element around the node that has this name, itself included.
    pub fn closest_tag(&self, id: NodeId, tag: &str) -> Option<NodeId> {
        std::iter::once(id).chain(self.ancestors(id)).find(|&node| self.tag(node) == tag)
    }

    /// The first element with this `id`.
    pub fn by_id(&self, wanted: &str) -> Option<NodeId> {
        self.descendants(self.root())
            .find(|&node| self.attribute_local(node, &local_name!("id")) == Some(wanted))
    }
}
