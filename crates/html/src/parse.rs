//! From text to tree: html5ever drives, this builds.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{LocalName, Namespace, ParseOpts, QualName, local_name, ns};

use crate::document::{Attribute, Content, Doctype, Document, ElementName, Node, NodeId};

/// Elements that may be open at a time, as in Go's parser.
const DEPTH_MAX: u16 = 512;

/// Nodes that a document may have. A page of some megabytes has a tenth of that.
const NODES_MAX: usize = 2 << 20;

/// How much text is parsed between two looks at the limits: what goes beyond them meanwhile is of this order times
/// [`DEPTH_MAX`].
const PIECE: usize = 16 * 1024;

/// Why a text is no document.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Elements in elements in elements.
    #[error("html: open stack of elements exceeds 512 nodes")]
    Depth,
    /// More nodes than a document may have.
    #[error("html: the document has more than 2097152 nodes")]
    Nodes,
}

impl Document {
    /// Parses a whole document; what is missing (`<html>`, `<body>`, end tags) is added as browsers do. Whatever text
    /// there is, it is a document.
    ///
    /// # Errors
    /// If a limit is passed.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Self::parse_within(text, NODES_MAX)
    }

    fn parse_within(text: &str, nodes_max: usize) -> Result<Self, ParseError> {
        let sink = Tree {
            nodes_max,
            nodes: RefCell::new(Vec::with_capacity(text.len() / 24 + 8)),
            attributes: RefCell::default(),
            depth: RefCell::default(),
            error: Cell::new(None),
        };
        sink.make(Content::Document);
        let mut parser = html5ever::parse_document(sink, ParseOpts::default());
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
            parser.process(StrTendril::from_slice(piece));
            if let Some(error) = parser.tokenizer.sink.sink.error.get() {
                return Err(error);
            }
            rest = after;
        }
        let tree = parser.finish();
        match tree.error.get() {
            Some(error) => Err(error),
            None => Ok(Document {
                nodes: tree.nodes.into_inner(),
                attributes: tree.attributes.into_inner(),
            }),
        }
    }
}

/// The tree as it grows. A handle is a node's id.
struct Tree {
    nodes_max: usize,
    nodes: RefCell<Vec<Node>>,
    attributes: RefCell<Vec<Attribute>>,
    /// How deep each node lies, as far as it was known when it was attached.
    depth: RefCell<Vec<u16>>,
    error: Cell<Option<ParseError>>,
}

struct NameOf<'a>(Ref<'a, ElementName>);

impl std::fmt::Debug for NameOf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl ElemName for NameOf<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.namespace
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl Tree {
    fn make(&self, content: Content) -> NodeId {
        let mut nodes = self.nodes.borrow_mut();
        let id = NodeId::of_index(nodes.len());
        let node =
            Node { parent: None, first: None, last: None, previous: None, next: None, content };
        nodes.push(node);
        self.depth.borrow_mut().push(0);
        if nodes.len() > self.nodes_max {
            self.error.set(self.error.get().or(Some(ParseError::Nodes)));
        }
        id
    }

    fn add_attributes(&self, list: Vec<html5ever::Attribute>) -> std::ops::Range<u32> {
        let mut attributes = self.attributes.borrow_mut();
        let start = attributes.len() as u32;
        attributes.extend(list.into_iter().map(|one| Attribute::new(one.name, one.value)));
        start..attributes.len() as u32
    }

    fn detach(&self, id: NodeId) {
        let nodes = &mut *self.nodes.borrow_mut();
        let node = &mut nodes[id.index()];
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        let Some(parent) = parent else { return };
        match previous {
            Some(previous) => nodes[previous.index()].next = next,
            None => nodes[parent.index()].first = next,
        }
        match next {
            Some(next) => nodes[next.index()].previous = previous,
            None => nodes[parent.index()].last = previous,
        }
    }

    /// Puts a node that has no parent before `next`, or at the end.
    fn attach(&self, parent: NodeId, id: NodeId, next: Option<NodeId>) {
        let nodes = &mut *self.nodes.borrow_mut();
        let previous = match next {
            Some(next) => nodes[next.index()].previous.replace(id),
            None => nodes[parent.index()].last.replace(id),
        };
        match previous {
            Some(previous) => nodes[previous.index()].next = Some(id),
            None => nodes[parent.index()].first = Some(id),
        }
        let node = &mut nodes[id.index()];
        (node.parent, node.previous, node.next) = (Some(parent), previous, next);
        if matches!(node.content, Content::Element(..)) {
            let mut depth = self.depth.borrow_mut();
            let here = depth[parent.index()].saturating_add(1);
            depth[id.index()] = here;
            if here > DEPTH_MAX {
                self.error.set(Some(ParseError::Depth));
            }
        }
    }

    /// Adds text to a text node; gives it back if the node is none.
    fn join(&self, to: Option<NodeId>, text: StrTendril) -> Option<StrTendril> {
        let Some(to) = to else { return Some(text) };
        match &mut self.nodes.borrow_mut()[to.index()].content {
            Content::Text(known) => {
                known.push_tendril(&text);
                None
            }
            _ => Some(text),
        }
    }

    fn insert(&self, parent: NodeId, child: NodeOrText<NodeId>, next: Option<NodeId>) {
        let id = match child {
            NodeOrText::AppendNode(id) => {
                self.detach(id);
                id
            }
            NodeOrText::AppendText(text) => {
                let before = {
                    let nodes = self.nodes.borrow();
                    match next {
                        Some(next) => nodes[next.index()].previous,
                        None => nodes[parent.index()].last,
                    }
                };
                let Some(text) = self.join(before, text) else { return };
                self.make(Content::Text(text))
            }
        };
        self.attach(parent, id, next);
    }
}

/// The elements whose attributes Go's parser sorts: those that it opens again after they were cut off.
fn is_formatting(name: &QualName) -> bool {
    name.ns == ns!(html)
        && matches!(
            name.local,
            local_name!("a")
                | local_name!("b")
                | local_name!("big")
                | local_name!("code")
                | local_name!("em")
                | local_name!("font")
                | local_name!("i")
                | local_name!("nobr")
                | local_name!("s")
                | local_name!("small")
                | local_name!("strike")
                | local_name!("strong")
                | local_name!("tt")
                | local_name!("u")
        )
}

impl TreeSink for Tree {
    type Handle = NodeId;
    type Output = Self;
    type ElemName<'a> = NameOf<'a>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        NodeId::of_index(0)
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> NameOf<'a> {
        NameOf(Ref::map(self.nodes.borrow(), |nodes| match &nodes[target.index()].content {
            Content::Element(name, _) => name,
            _ => unreachable!("html5ever asks for names of elements only"),
        }))
    }

    fn create_element(
        &self,
        name: QualName,
        mut attributes: Vec<html5ever::Attribute>,
        _: ElementFlags,
    ) -> NodeId {
        if attributes.len() > 1 && is_formatting(&name) {
            attributes.sort_by(|one, other| one.name.local.cmp(&other.name.local));
        }
        let attributes = self.add_attributes(attributes);
        let name = ElementName { namespace: name.ns, local: name.local };
        self.make(Content::Element(name, attributes))
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.make(Content::Comment(text))
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> NodeId {
        self.make(Content::Comment(StrTendril::from(format!("?{target} {data}"))))
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.insert(*parent, child, None);
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        previous: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        let parent = self.nodes.borrow()[element.index()].parent;
        match parent {
            Some(parent) => self.insert(parent, child, Some(*element)),
            None => self.insert(*previous, child, None),
        }
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        let id = self.make(Content::Doctype(Box::new(Doctype { name, public, system })));
        self.attach(NodeId::of_index(0), id, None);
    }

    /// What is in a template is seen like anything else, as in Go's trees.
    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        *target
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, new: NodeOrText<NodeId>) {
        let parent = self.nodes.borrow()[sibling.index()].parent;
        if let Some(parent) = parent {
            self.insert(parent, new, Some(*sibling));
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, more: Vec<html5ever::Attribute>) {
        let mut nodes = self.nodes.borrow_mut();
        let Content::Element(_, range) = &mut nodes[target.index()].content else { return };
        let mut attributes = self.attributes.borrow_mut();
        // The list of an element lies in one piece: it moves to the end. This happens to `html` and `body` only, once for
        // each tag that repeats them.
        let known = attributes[range.start as usize..range.end as usize].to_vec();
        let new: Vec<_> = more
            .into_iter()
            .filter(|one| known.iter().all(|other| *other.qualified() != one.name))
            .collect();
        if new.is_empty() {
            return;
        }
        let start = attributes.len() as u32;
        attributes.extend(known);
        attributes.extend(new.into_iter().map(|one| Attribute::new(one.name, one.value)));
        *range = start..attributes.len() as u32;
        if attributes.len() > self.nodes_max {
            self.error.set(Some(ParseError::Nodes));
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        loop {
            let first = self.nodes.borrow()[node.index()].first;
            let Some(child) = first else { break };
            self.detach(child);
            self.attach(*new_parent, child, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let document = Document::parse(text).unwrap();
        document.outer_html(document.root())
    }

    #[test]
    fn documents_are_completed_as_browsers_do() {
        let cases = [
            ("", "<html><head></head><body></body></html>"),
            ("<p>a<p>b", "<html><head></head><body><p>a</p><p>b</p></body></html>"),
            (
                "<table>x<tr><td>1",
                "<html><head></head><body>x<table><tbody><tr><td>1</td></tr></tbody></table></body></html>",
            ),
            ("<b><p>x</b>y", "<html><head></head><body><b></b><p><b>x</b>y</p></body></html>"),
            (
                "<!DOCTYPE html><a href=x class=y>1<br></a>",
                "<!DOCTYPE html><html><head></head><body><a class=\"y\" href=\"x\">1<br/></a></body></html>",
            ),
            (
                "<textarea>\n\n&lt;</textarea><script>a<b</script>",
                "<html><head></head><body><textarea>\n\n&lt;</textarea><script>a<b</script></body></html>",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(written(text), expected, "{text}");
        }
    }

    #[test]
    fn elements_may_be_open_512_deep() {
        assert!(Document::parse(&"<div>".repeat(510)).is_ok());
        assert_eq!(Document::parse(&"<div>".repeat(511)).err(), Some(ParseError::Depth));
    }

    #[test]
    fn a_text_that_grows_when_it_is_parsed_is_stopped() {
        // Each paragraph opens all of them anew.
        let mut text = "<p>".to_owned();
        text.extend((0..100).map(|number| format!("<b id={number}>")));
        text.push_str("</p>");
        text.push_str(&"<p>x</p>".repeat(5000));
        assert_eq!(Document::parse_within(&text, 10_000).err(), Some(ParseError::Nodes));
    }

    #[test]
    fn trees_have_no_loops_and_all_links_go_both_ways() {
        let text =
            "<i><b><p>1</i>2</b>3<table><a>x<tr><td></a><form><table></form>y<select><option>z";
        check(&Document::parse(text).unwrap());
    }

    fn check(document: &Document) {
        let mut count = 0;
        for node in std::iter::once(document.root()).chain(document.descendants(document.root())) {
            count += 1;
            assert!(count <= document.len(), "no node comes twice");
            let mut last = None;
            for child in document.children(node) {
                assert_eq!(document.parent(child), Some(node));
                assert_eq!(document.previous(child), last);
                last = Some(child);
            }
            assert_eq!(document.last_child(node), last);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_document(parts in prop::collection::vec(prop::sample::select(vec![
            "<p>", "</p>", "<b>", "</b>", "<i id=1>", "</i>", "<table>", "</table>", "<tr>", "<td>", "</td>",
            "<a href=x>", "</a>", "<select>", "<option>", "</select>", "<form>", "</form>", "<svg>", "</svg>",
            "<script>", "</script>", "<!-- ", "-->", "x", "&amp;", "&", "<", "\0", "é", "<template>",
            "</template>", "<body a=1>", "<html b>", "</body>", "</html>", "<frameset>", "<textarea>",
            "</textarea>", "<math>", "<mi>", "<button>", "<ul>", "<li>", "<h1>", "</h2>", "<nobr>", "<br>",
        ]), 0..60)) {
            let text = parts.concat();
            let document = Document::parse(&text).unwrap();
            check(&document);
            let _ = document.outer_html(document.root());
            let _ = document.text(document.root());
        }
    }
}
