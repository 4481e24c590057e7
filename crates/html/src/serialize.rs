//! From tree to text, as Go's `net/html` writes it.

use crate::document::{Content, Document, NodeId};

/// Elements without content and end tag.
const VOID: [&str; 15] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "meta", "param",
    "source", "track", "wbr",
];

/// Elements whose text is written as it is.
const RAW: [&str; 8] =
    ["iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "xmp"];

impl Document {
    /// The node with all in it.
    pub fn outer_html(&self, id: NodeId) -> String {
        let mut out = String::new();
        self.write(id, &mut out);
        out
    }

    /// What is in the node.
    pub fn inner_html(&self, id: NodeId) -> String {
        let mut out = String::new();
        for child in self.children(id) {
            self.write(child, &mut out);
        }
        out
    }

    /// Writes a node and all below it; no recursion, however deep the tree.
    fn write(&self, top: NodeId, out: &mut String) {
        let mut at = top;
        loop {
            self.open(at, at != top, out);
            if let Some(child) = self.first_child(at) {
                at = child;
                continue;
            }
            // Upwards, until there is a next one.
            loop {
                if self.is_element(at) {
                    if self.tag(at) == "plaintext" {
                        // Nothing can come after it.
                        return;
                    }
                    self.close(at, out);
                }
                if at == top {
                    return;
                }
                if let Some(next) = self.next(at) {
                    at = next;
                    break;
                }
                let Some(parent) = self.parent(at) else { return };
                at = parent;
            }
        }
    }

    fn open(&self, id: NodeId, inside: bool, out: &mut String) {
        match &self.node(id).content {
            Content::Document => {}
            Content::Doctype(doctype) => {
                out.push_str("<!DOCTYPE ");
                out.push_str(&doctype.name);
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
            Content::Text(text) => {
                let raw = inside
                    && self.parent(id).is_some_and(|parent| {
                        RAW.contains(&self.tag(parent)) && self.is_html(parent)
                    });
                if raw {
                    out.push_str(text);
                } else {
                    escape(text, out);
                }
            }
            Content::Comment(text) => {
                out.push_str("<!--");
                out.push_str(text);
                out.push_str("-->");
            }
            Content::Element(name, _) => {
                out.push('<');
                out.push_str(&name.local);
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
                if self.is_void(id) {
                    out.push_str("/>");
                    return;
                }
                out.push('>');
                // The line break behind these is not part of them, so a real one needs another.
                if matches!(&*name.local, "pre" | "listing" | "textarea")
                    && let Some(first) = self.first_child(id)
                    && let Content::Text(text) = &self.node(first).content
                    && text.starts_with('\n')
                {
                    out.push('\n');
                }
            }
        }
    }

    fn close(&self, id: NodeId, out: &mut String) {
        if !self.is_void(id) {
            out.push_str("</");
            out.push_str(self.tag(id));
            out.push('>');
        }
    }

    fn is_void(&self, id: NodeId) -> bool {
        VOID.contains(&self.tag(id))
    }
}

fn quote(text: &str, out: &mut String) {
    let mark = if text.contains('"') { '\'' } else { '"' };
    out.push(mark);
    out.push_str(text);
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
