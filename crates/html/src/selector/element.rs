//! An element, as `selectors` asks about it.

use std::fmt;

use selectors::OpaqueElement;
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::MatchingContext;
use selectors::matching::{ElementSelectorFlags, matches_selector_list};

use super::grammar::{Grammar, LocalName, NoPseudoElement, PseudoClass, Text};
use crate::document::{Document, Kind, Namespace, NodeId};
use crate::name::Name;
use crate::query::{Side, elements_beside};

/// An element of a document.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    document: &'a Document,
    id: NodeId,
}

impl fmt::Debug for Element<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "<{}> {:?}", self.document.tag(self.id), self.id)
    }
}

impl<'a> Element<'a> {
    /// `None` if the node is no element.
    pub(super) fn new(document: &'a Document, id: NodeId) -> Option<Self> {
        document.is_element(id).then_some(Self { document, id })
    }

    fn attribute(self, name: Name) -> Option<&'a str> {
        self.document.attribute_known(self.id, name)
    }

    fn has(self, name: Name) -> bool {
        self.attribute(name).is_some()
    }

    fn is_any(self, names: &[Name]) -> bool {
        self.document.element_name(self.id).is_some_and(|name| names.contains(&name))
    }

    fn text(self, own: bool) -> String {
        if own { self.document.own_text(self.id) } else { self.document.text(self.id) }
    }

    /// Whether the element or one around it is declared to be in that language.
    fn is_in(self, language: &str) -> bool {
        let around = std::iter::successors(Some(self), selectors::Element::parent_element);
        let declared = { around }.find_map(|element| element.attribute(Name::LANG));
        declared.is_some_and(|declared| {
            let declared = declared.to_lowercase();
            declared
                .strip_prefix(language)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
    }

    /// A field is disabled by itself, or by a `<fieldset>` around it unless it is in the first `<legend>` of that
    /// (HTML standard, "4.10.19.5 Enabling and disabling form controls").
    fn is_disabled(self) -> bool {
        if self.has(Name::DISABLED) {
            return true;
        }
        if !self.is_any(&FIELDS) {
            return false;
        }
        let mut inner = self;
        while let Some(outer) = selectors::Element::parent_element(&inner) {
            if outer.is_any(&[Name::FIELDSET]) && outer.has(Name::DISABLED) {
                let first = { outer.document.child_elements(outer.id) }
                    .find(|&child| outer.document.element_name(child) == Some(Name::LEGEND));
                if first != Some(inner.id) {
                    return true;
                }
            }
            inner = outer;
        }
        false
    }

    fn is_checked(self) -> bool {
        if self.is_any(&[Name::OPTION]) {
            return self.has(Name::SELECTED);
        }
        let kind = self.attribute(Name::TYPE).unwrap_or_default();
        self.is_any(&[Name::INPUT, Name::MENUITEM])
            && self.has(Name::CHECKED)
            && (kind.eq_ignore_ascii_case("checkbox") || kind.eq_ignore_ascii_case("radio"))
    }
}

/// The elements that a `<fieldset>` around them can disable.
const FIELDS: [Name; 5] = [Name::BUTTON, Name::INPUT, Name::SELECT, Name::TEXTAREA, Name::OPTION];

/// The elements that only their own attribute disables.
const GROUPS: [Name; 3] = [Name::OPTGROUP, Name::MENUITEM, Name::FIELDSET];

const LINKS: [Name; 3] = [Name::A, Name::AREA, Name::LINK];

impl selectors::Element for Element<'_> {
    type Impl = Grammar;

    fn opaque(&self) -> OpaqueElement {
        OpaqueElement::new(self.document.node(self.id))
    }

    fn parent_element(&self) -> Option<Self> {
        Self::new(self.document, self.document.parent(self.id)?)
    }

    fn parent_node_is_shadow_root(&self) -> bool {
        false
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }

    fn is_pseudo_element(&self) -> bool {
        false
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        let id = elements_beside(self.document, self.id, Side::Before).next()?;
        Some(Self { id, ..*self })
    }

    fn next_sibling_element(&self) -> Option<Self> {
        let id = elements_beside(self.document, self.id, Side::After).next()?;
        Some(Self { id, ..*self })
    }

    fn first_element_child(&self) -> Option<Self> {
        let id = self.document.child_elements(self.id).next()?;
        Some(Self { id, ..*self })
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.document.element_namespace(self.id) == Some(Namespace::Html)
    }

    fn has_local_name(&self, name: &LocalName) -> bool {
        self.document.is_named(self.id, &name.0)
    }

    fn has_namespace(&self, _namespace: &Text) -> bool {
        true
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.document.element_name(self.id) == other.document.element_name(other.id)
    }

    fn attr_matches(
        &self,
        _namespace: &NamespaceConstraint<&Text>,
        name: &LocalName,
        operation: &AttrSelectorOperation<&Text>,
    ) -> bool {
        self.document
            .attribute_tested(self.id, &name.0)
            .is_some_and(|value| operation.eval_str(value))
    }

    fn match_non_ts_pseudo_class(
        &self,
        class: &PseudoClass,
        context: &mut MatchingContext<'_, Grammar>,
    ) -> bool {
        match class {
            PseudoClass::Contains { text, own } => self.text(*own).to_lowercase().contains(text),
            PseudoClass::Matches { pattern, own } => pattern.is_match(&self.text(*own)),
            PseudoClass::Attribute { name, pattern } => self
                .document
                .attribute_tested(self.id, name)
                .is_some_and(|value| pattern.is_match(value)),
            PseudoClass::HasChild(list) => context.nest(|context| {
                self.document
                    .child_elements(self.id)
                    .any(|id| matches_selector_list(list, Self { id, ..*self }, context))
            }),
            PseudoClass::Lang(language) => self.is_in(language),
            PseudoClass::Input => {
                self.is_any(&[Name::INPUT, Name::SELECT, Name::TEXTAREA, Name::BUTTON])
            }
            PseudoClass::Link => self.is_link(),
            PseudoClass::Enabled => {
                self.is_link()
                    || (self.is_any(&FIELDS) || self.is_any(&GROUPS)) && !self.is_disabled()
            }
            PseudoClass::Disabled => {
                (self.is_any(&FIELDS) || self.is_any(&GROUPS)) && self.is_disabled()
            }
            PseudoClass::Checked => self.is_checked(),
            PseudoClass::Never => false,
        }
    }

    fn match_pseudo_element(
        &self,
        element: &NoPseudoElement,
        _context: &mut MatchingContext<'_, Grammar>,
    ) -> bool {
        match *element {}
    }

    fn apply_selector_flags(&self, _flags: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        self.is_any(&LINKS) && self.has(Name::HREF)
    }

    fn is_html_slot_element(&self) -> bool {
        false
    }

    fn has_id(&self, id: &Text, case: CaseSensitivity) -> bool {
        let known = self.attribute(Name::ID);
        known.is_some_and(|known| case.eq(known.as_bytes(), id.0.as_bytes()))
    }

    fn has_class(&self, class: &Text, case: CaseSensitivity) -> bool {
        let known = self.attribute(Name::CLASS).unwrap_or_default();
        { known.split_ascii_whitespace() }
            .any(|known| case.eq(known.as_bytes(), class.0.as_bytes()))
    }

    fn has_custom_state(&self, _name: &Text) -> bool {
        false
    }

    fn imported_part(&self, _name: &Text) -> Option<Text> {
        None
    }

    fn is_part(&self, _name: &Text) -> bool {
        false
    }

    /// White space is nothing (Selectors Level 4), and neither are comments.
    fn is_empty(&self) -> bool {
        self.document.children(self.id).all(|child| match self.document.kind(child) {
            Kind::Element => false,
            Kind::Text => self.document.value(child).is_none_or(|text| text.trim().is_empty()),
            _ => true,
        })
    }

    fn is_root(&self) -> bool {
        { self.document.parent(self.id) }
            .is_some_and(|parent| self.document.kind(parent) == Kind::Document)
    }

    fn add_element_unique_hashes(&self, _filter: &mut BloomFilter) -> bool {
        false
    }
}
