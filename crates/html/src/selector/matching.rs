//! Whether a node is meant by a selector.

use super::{AttributeTest, Combinator, Complex, Nth, Operation, Simple};
use crate::document::{Document, Kind, NodeId};
use crate::name::Name;

pub(super) fn complex(document: &Document, complex: &Complex, node: NodeId) -> bool {
    ends_at(document, &complex.compounds, node)
}

fn ends_at(document: &Document, compounds: &[(Combinator, Vec<Simple>)], node: NodeId) -> bool {
    let Some(((combinator, compound), before)) = compounds.split_last() else { return true };
    if !compound.iter().all(|test| simple(document, test, node)) {
        return false;
    }
    // Only elements have something around them that counts, but for the first compound.
    match combinator {
        Combinator::None => true,
        Combinator::Descendant => {
            document.ancestors(node).any(|outer| ends_at(document, before, outer))
        }
        Combinator::Child => {
            document.parent(node).is_some_and(|parent| ends_at(document, before, parent))
        }
        Combinator::Next => {
            let neighbour = document
                .before(node)
                .find(|&node| !matches!(document.kind(node), Kind::Text | Kind::Comment));
            neighbour.is_some_and(|neighbour| ends_at(document, before, neighbour))
        }
        Combinator::After => document.before(node).any(|other| ends_at(document, before, other)),
    }
}

fn simple(document: &Document, test: &Simple, node: NodeId) -> bool {
    match test {
        Simple::Tag(tag) => document.is_named(node, tag),
        Simple::Id(id) => document.attribute_known(node, Name::ID) == Some(id),
        Simple::Class(class) => document
            .attribute_known(node, Name::CLASS)
            .is_some_and(|classes| words(classes).any(|word| word == class)),
        Simple::Attribute(test) => attribute(document, test, node),
        // These look at text, whatever kind of node has it; so do they in cascadia.
        Simple::Contains { text, own } => {
            text_of(document, node, *own).to_lowercase().contains(text)
        }
        Simple::Matches { pattern, own } => pattern.is_match(&text_of(document, node, *own)),
        Simple::Lang(lang) => std::iter::once(node).chain(document.ancestors(node)).any(|node| {
            let known = document.attribute_known(node, Name::LANG);
            known.is_some_and(|known| begins_with_part(known, lang))
        }),
        Simple::Never => false,
        _ if !document.is_element(node) => false,
        Simple::Not(inner) => !inner.matches(document, node),
        Simple::Has(inner) => document.descendants(node).any(|node| inner.matches(document, node)),
        Simple::HasChild(inner) => {
            document.children(node).any(|child| inner.matches(document, child))
        }
        Simple::Nth(nth) => is_nth(document, *nth, node),
        Simple::Only { of_type } => {
            same_kind(document, node, *of_type).is_some_and(|mut kin| kin.nth(1).is_none())
        }
        Simple::Input => {
            matches!(document.tag(node), "input" | "select" | "textarea" | "button")
        }
        Simple::Empty => document.children(node).all(|child| match document.kind(child) {
            Kind::Element => false,
            Kind::Text => document.value(child).is_none_or(|text| text.trim().is_empty()),
            _ => true,
        }),
        Simple::Root => {
            document.parent(node).is_some_and(|parent| document.kind(parent) == Kind::Document)
        }
        Simple::Link => is_link(document, node),
        Simple::Enabled => match document.tag(node) {
            "a" | "area" | "link" => has(document, node, Name::HREF),
            "optgroup" | "menuitem" | "fieldset" => !has(document, node, Name::DISABLED),
            "button" | "input" | "select" | "textarea" | "option" => !is_disabled(document, node),
            _ => false,
        },
        Simple::Disabled => match document.tag(node) {
            "optgroup" | "menuitem" | "fieldset" => has(document, node, Name::DISABLED),
            "button" | "input" | "select" | "textarea" | "option" => is_disabled(document, node),
            _ => false,
        },
        Simple::Checked => match document.tag(node) {
            "input" | "menuitem" => {
                has(document, node, Name::CHECKED)
                    && document.attribute_known(node, Name::TYPE).is_some_and(|kind| {
                        kind.eq_ignore_ascii_case("checkbox") || kind.eq_ignore_ascii_case("radio")
                    })
            }
            "option" => has(document, node, Name::SELECTED),
            _ => false,
        },
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\t', '\r', '\n', '\u{c}']).filter(|word| !word.is_empty())
}

fn has(document: &Document, node: NodeId, name: Name) -> bool {
    document.attribute_known(node, name).is_some()
}

fn is_link(document: &Document, node: NodeId) -> bool {
    matches!(document.tag(node), "a" | "area" | "link") && has(document, node, Name::HREF)
}

fn text_of(document: &Document, node: NodeId, own: bool) -> String {
    if own { document.own_text(node) } else { document.text(node) }
}

/// `en` begins `en` and `en-GB`, not `enx`.
fn begins_with_part(text: &str, part: &str) -> bool {
    text.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn attribute(document: &Document, test: &AttributeTest, node: NodeId) -> bool {
    let AttributeTest { name, operation, value, ignore_case } = test;
    let lowered = |text: &str| if *ignore_case { text.to_lowercase() } else { text.to_owned() };
    let is = |known: &str| {
        if *ignore_case { known.to_lowercase() == *value.to_lowercase() } else { known == value }
    };
    let known = document.attribute_tested(node, name);
    if let Operation::IsNot = operation {
        return document.is_element(node) && !known.is_some_and(is);
    }
    let Some(known) = known else { return false };
    match operation {
        Operation::Exists | Operation::IsNot => true,
        Operation::Is => is(known),
        Operation::Word => words(known).any(is),
        Operation::Dash => is(known) || begins_with_part(&lowered(known), &lowered(value)),
        // What is empty or blank is nobody's beginning, end or part.
        Operation::Begins => {
            !known.trim().is_empty() && lowered(known).starts_with(&lowered(value))
        }
        Operation::Ends => !known.trim().is_empty() && lowered(known).ends_with(&lowered(value)),
        Operation::Contains => !known.trim().is_empty() && lowered(known).contains(&lowered(value)),
        Operation::Pattern(pattern) => pattern.is_match(known),
    }
}

/// The element and its siblings, those of its name only if `of_type`; `None` without a parent.
fn same_kind(
    document: &Document,
    node: NodeId,
    of_type: bool,
) -> Option<impl Iterator<Item = NodeId>> {
    let local = document.element_name(node);
    let kin = document.child_elements(document.parent(node)?);
    Some(kin.filter(move |&other| !of_type || document.element_name(other) == local))
}

fn is_nth(document: &Document, nth: Nth, node: NodeId) -> bool {
    let local = document.element_name(node);
    if document.parent(node).is_none() {
        return false;
    }
    let counts = |&other: &NodeId| {
        document.is_element(other) && (!nth.of_type || document.element_name(other) == local)
    };
    let before = if nth.last {
        document.after(node).filter(counts).count()
    } else {
        document.before(node).filter(counts).count()
    };
    let place = i64::try_from(before).unwrap_or(i64::MAX - 1) + 1;
    let steps = place.saturating_sub(nth.b);
    if nth.a == 0 {
        return steps == 0;
    }
    steps.checked_rem(nth.a) == Some(0) && steps.checked_div(nth.a).is_some_and(|times| times >= 0)
}

fn is_disabled(document: &Document, node: NodeId) -> bool {
    if has(document, node, Name::DISABLED) {
        return true;
    }
    // In a disabled fieldset, but for what is in its first legend.
    let mut inner = node;
    for outer in document.ancestors(node) {
        if document.tag(outer) == "fieldset" && has(document, outer, Name::DISABLED) {
            let in_first_legend = document.tag(inner) == "legend"
                && !document.before(inner).any(|other| document.tag(other) == "legend");
            if !in_first_legend {
                return true;
            }
        }
        inner = outer;
    }
    false
}
