//! The words of selectors, and the pseudo-classes that go beyond CSS.

use std::fmt;

use cssparser::{ParseError, Parser, ToCss, serialize_identifier, serialize_string};
use precomputed_hash::PrecomputedHash;
use regex_lite::Regex;
use selectors::SelectorList;
use selectors::parser::{
    Component, NonTSPseudoClass, ParseRelative, PseudoElement, SelectorImpl, SelectorParseErrorKind,
};

use crate::name::NameTest;

/// Compounds in one selector: they are matched by recursion.
const COMPOUNDS_MAX: usize = 128;

/// Reads a selector in plain CSS; `None` for anything else.
pub(super) fn read(text: &str) -> Option<SelectorList<Grammar>> {
    let mut input = Parser::new(text);
    let list = SelectorList::parse(&Reader, &mut input, ParseRelative::No).ok()?;
    let is_short = |selector: &selectors::parser::Selector<Grammar>| {
        let parts = selector.iter_raw_match_order();
        { parts }.filter(|part| matches!(part, Component::Combinator(_))).count() < COMPOUNDS_MAX
    };
    list.slice().iter().all(is_short).then_some(list)
}

/// The types that selectors are made of.
#[derive(Clone, Debug)]
pub(super) struct Grammar;

impl SelectorImpl for Grammar {
    type ExtraMatchingData<'a> = ();
    type AttrValue = Text;
    type Identifier = Text;
    type LocalName = LocalName;
    type NamespaceUrl = Text;
    type NamespacePrefix = Text;
    type BorrowedNamespaceUrl = Text;
    type BorrowedLocalName = LocalName;
    type NonTSPseudoClass = PseudoClass;
    type PseudoElement = NoPseudoElement;
}

/// A class, an id, the value of an attribute.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Text(pub(super) Box<str>);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl ToCss for Text {
    fn to_css<W: fmt::Write>(&self, to: &mut W) -> fmt::Result {
        serialize_string(&self.0, to)
    }
}

/// Hashes are for filters, which we don't use.
impl PrecomputedHash for Text {
    fn precomputed_hash(&self) -> u32 {
        0
    }
}

/// The name of an element or attribute.
#[derive(Clone, Debug)]
pub(super) struct LocalName(pub(super) NameTest);

impl PartialEq for LocalName {
    fn eq(&self, other: &Self) -> bool {
        self.0.text() == other.0.text()
    }
}

impl Eq for LocalName {}

impl From<&str> for LocalName {
    fn from(text: &str) -> Self {
        Self(NameTest::new(text))
    }
}

impl ToCss for LocalName {
    fn to_css<W: fmt::Write>(&self, to: &mut W) -> fmt::Result {
        serialize_identifier(self.0.text(), to)
    }
}

impl PrecomputedHash for LocalName {
    fn precomputed_hash(&self) -> u32 {
        0
    }
}

/// A pseudo-class that is not about an element's place among others: those `selectors` knows itself.
#[derive(Clone, Debug)]
pub(super) enum PseudoClass {
    /// `:contains(text)`: the text in the element, in lower case; with `own` that of its own text nodes only.
    Contains {
        text: String,
        own: bool,
    },
    /// `:matches(pattern)`
    Matches {
        pattern: Box<Regex>,
        own: bool,
    },
    /// `[name#=pattern]`
    Attribute {
        name: NameTest,
        pattern: Box<Regex>,
    },
    /// `:haschild(selectors)`
    HasChild(SelectorList<Grammar>),
    /// `:lang(en)`
    Lang(String),
    /// `:input`: all fields of forms.
    Input,
    Link,
    Enabled,
    Disabled,
    Checked,
    /// `:hover` and others that a document at rest does not know.
    Never,
}

/// They are compared by how they print: `selectors` wants to compare, and nothing here does.
impl PartialEq for PseudoClass {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

impl Eq for PseudoClass {}

impl ToCss for PseudoClass {
    fn to_css<W: fmt::Write>(&self, to: &mut W) -> fmt::Result {
        write!(to, ":{self:?}")
    }
}

impl NonTSPseudoClass for PseudoClass {
    fn is_active_or_hover(&self) -> bool {
        false
    }

    fn is_user_action_state(&self) -> bool {
        false
    }
}

/// A parsed page has no `::before`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoPseudoElement {}

impl ToCss for NoPseudoElement {
    fn to_css<W: fmt::Write>(&self, _to: &mut W) -> fmt::Result {
        match *self {}
    }
}

impl PseudoElement for NoPseudoElement {}

struct Reader;

type Refusal = ParseError<SelectorParseErrorKind>;

fn refusal() -> Refusal {
    ParseError::custom(SelectorParseErrorKind::UnsupportedPseudoClassOrElement)
}

impl<'i> selectors::parser::Parser<'i> for Reader {
    type Impl = Grammar;
    type Error = SelectorParseErrorKind;

    fn parse_has(&self) -> bool {
        true
    }

    fn parse_non_ts_pseudo_class(&self, name: &str) -> Result<PseudoClass, Refusal> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "input" => PseudoClass::Input,
            "link" => PseudoClass::Link,
            "enabled" => PseudoClass::Enabled,
            "disabled" => PseudoClass::Disabled,
            "checked" => PseudoClass::Checked,
            "visited" | "hover" | "active" | "focus" | "target" => PseudoClass::Never,
            _ => return Err(refusal()),
        })
    }

    fn parse_non_ts_functional_pseudo_class(
        &self,
        name: &str,
        input: &mut Parser<'i>,
        _after_part: bool,
    ) -> Result<PseudoClass, Refusal> {
        let pattern = |input: &mut Parser<'i>| -> Result<Box<Regex>, Refusal> {
            Regex::new(input.expect_string()?).map(Box::new).map_err(|_| refusal())
        };
        let name = name.to_ascii_lowercase();
        Ok(match name.as_str() {
            "contains" | "containsown" => PseudoClass::Contains {
                text: input.expect_ident_or_string()?.to_lowercase(),
                own: name == "containsown",
            },
            "matches" | "matchesown" => {
                PseudoClass::Matches { pattern: pattern(input)?, own: name == "matchesown" }
            }
            "-attribute-matches" => {
                let name = NameTest::new(&input.expect_ident()?.to_ascii_lowercase());
                PseudoClass::Attribute { name, pattern: pattern(input)? }
            }
            "haschild" => {
                PseudoClass::HasChild(SelectorList::parse(self, input, ParseRelative::No)?)
            }
            "lang" => PseudoClass::Lang(input.expect_ident_or_string()?.to_lowercase()),
            _ => return Err(refusal()),
        })
    }
}
