//! From tree to text ("13.3 Serializing HTML fragments" of the HTML standard), with the escapes that k6 1.8 shows.

use crate::document::{Content, Document, Namespace, NodeId};
use crate::name::Name;

impl Document {
    /// The node with all in it. `None` if it cannot be written: an element that never has something in it has.
    pub fn outer_html(&self, id: NodeId) -> Option<String> {
        let mut out = String::new();
        self.write(id, &mut out)?;
        Some(out)
    }

    /// The content of the node; `None` as above.
    pub fn inner_html(&self, id: NodeId) -> Option<String> {
        let mut out = String::new();
        for child in self.children(id) {
            self.write(child, &mut out)?;
        }
        Some(out)
    }

    /// Writes a node and all below it; no recursion, however deep the tree.
    fn write(&self, top: NodeId, out: &mut String) -> Option<()> {
        let mut at = top;
        loop {
            self.open(at, at != top, out)?;
            if let Some(child) = self.first_child(at) {
                at = child;
                continue;
            }
            // Upwards, until there is a next one.
            loop {
                if let Some(name) = self.element_name(at) {
                    if name == Name::PLAINTEXT && self.is_raw(at) {
                        // Nothing can come after it.
                        return Some(());
                    }
                    if !name.is_void() {
                        out.push_str("</");
                        out.push_str(self.name_text(name));
                        out.push('>');
                    }
                }
                if at == top {
                    return Some(());
                }
                if let Some(next) = self.next(at) {
                    at = next;
                    break;
                }
                at = self.parent(at)?;
            }
        }
    }

    fn open(&self, id: NodeId, inside: bool, out: &mut String) -> Option<()> {
        match self.node(id).content {
            Content::Document => {}
            Content::Doctype(index) => self.write_doctype(index, out),
            Content::Text(_) | Content::Joined(_) => {
                let text = self.text_of(id).unwrap_or("");
                if inside && self.parent(id).is_some_and(|parent| self.is_raw(parent)) {
                    out.push_str(text);
                } else {
                    escape(text, out);
                }
            }
            Content::Comment(text) => {
                out.push_str("<!--");
                escape_comment(self.span(text), out);
                out.push_str("-->");
            }
            Content::Element { name, .. } => {
                out.push('<');
                out.push_str(self.name_text(name));
                for attribute in self.attributes(id) {
                    out.push(' ');
                    if !attribute.prefix().is_empty() {
                        out.push_str(attribute.prefix());
                        out.push(':');
                    }
                    out.push_str(attribute.name());
                    out.push_str("=\"");
                    escape(attribute.value(), out);
                    out.push('"');
                }
                let first = self.first_child(id);
                if name.is_void() {
                    out.push_str("/>");
                    return first.is_none().then_some(());
                }
                out.push('>');
                // The line break behind these is not part of them, so a real one needs another.
                let text = first.and_then(|first| self.text_of(first));
                if matches!(name, Name::PRE | Name::LISTING | Name::TEXTAREA)
                    && text.is_some_and(|text| text.starts_with('\n'))
                {
                    out.push('\n');
                }
            }
        }
        Some(())
    }

    fn write_doctype(&self, index: u32, out: &mut String) {
        let doctype = &self.doctypes[index as usize];
        out.push_str("<!DOCTYPE ");
        escape(&doctype.name, out);
        if !doctype.public.is_empty() {
            out.push_str(" PUBLIC ");
            quote(&doctype.public, out);
        }
        if !doctype.system.is_empty() {
            out.push_str(if doctype.public.is_empty() { " SYSTEM " } else { " " });
            quote(&doctype.system, out);
        }
        out.push('>');
    }

    /// Whether the text in this element is written as it is: not if it was fostered into something foreign.
    fn is_raw(&self, id: NodeId) -> bool {
        let is_kind = matches!(
            self.node(id).content,
            Content::Element {
                namespace: Namespace::Html,
                name: Name::IFRAME
                    | Name::NOEMBED
                    | Name::NOFRAMES
                    | Name::NOSCRIPT
                    | Name::PLAINTEXT
                    | Name::SCRIPT
                    | Name::STYLE
                    | Name::XMP,
                ..
            }
        );
        let is_foreign = |&outer: &NodeId| {
            self.element_namespace(outer).is_some_and(|namespace| namespace != Namespace::Html)
        };
        is_kind && self.ancestors(id).find(is_foreign).is_none_or(|outer| self.holds_html(outer))
    }

    /// Whether what is in this foreign element is HTML again.
    pub(crate) fn holds_html(&self, id: NodeId) -> bool {
        let Content::Element { namespace, name, .. } = self.node(id).content else { return false };
        match namespace {
            Namespace::Html => false,
            Namespace::Math => {
                name == Name::ANNOTATION_XML
                    && self.attribute_known(id, Name::ENCODING).is_some_and(|encoding| {
                        encoding.eq_ignore_ascii_case("text/html")
                            || encoding.eq_ignore_ascii_case("application/xhtml+xml")
                    })
            }
            Namespace::Svg => matches!(name, Name::DESC | Name::FOREIGN_OBJECT | Name::TITLE),
        }
    }
}

fn quote(text: &str, out: &mut String) {
    let mark = if text.contains('"') { '\'' } else { '"' };
    out.push(mark);
    out.push_str(&text.replace('>', "&gt;"));
    out.push(mark);
}

/// Text and attribute values.
fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '\'', '<', '>', '"', '\r']) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        out.push_str(match after.as_bytes()[0] {
            b'&' => "&amp;",
            b'\'' => "&#39;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&#34;",
            _ => "&#13;",
        });
        rest = &after[1..];
    }
    out.push_str(rest);
}

/// Of a comment as little as need be: what would end it, and what begins a reference.
fn escape_comment(text: &str, out: &mut String) {
    let mut before = None;
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '>' if matches!(before, None | Some('!' | '-')) => out.push_str("&gt;"),
            _ => out.push(letter),
        }
        before = Some(letter);
    }
}
