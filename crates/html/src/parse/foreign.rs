//! SVG and MathML in HTML (13.2.6.5).

use super::body::is_blank_or_zero;
use super::{IsConsumed, Kind, Parser};
use crate::document::{Content, Entry, Namespace, NodeId, Prefix};
use crate::name::Name;

/// Elements of HTML that end what is foreign.
#[rustfmt::skip]
fn breaks_out(name: Name) -> bool {
    matches!(
        name,
        Name::B | Name::BIG | Name::BLOCKQUOTE | Name::BODY | Name::BR | Name::CENTER | Name::CODE | Name::DD
            | Name::DIV | Name::DL | Name::DT | Name::EM | Name::EMBED | Name::H1 | Name::H2 | Name::H3 | Name::H4
            | Name::H5 | Name::H6 | Name::HEAD | Name::HR | Name::I | Name::IMG | Name::LI | Name::LISTING
            | Name::MENU | Name::META | Name::NOBR | Name::OL | Name::P | Name::PRE | Name::RUBY | Name::S
            | Name::SMALL | Name::SPAN | Name::STRONG | Name::STRIKE | Name::SUB | Name::SUP | Name::TABLE | Name::TT
            | Name::U | Name::UL | Name::VAR
    )
}

/// SVG's names that are not all lower case.
const SVG_TAGS: &str = "altGlyph altGlyphDef altGlyphItem animateColor animateMotion animateTransform clipPath feBlend \
    feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight \
    feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset \
    fePointLight feSpecularLighting feSpotLight feTile feTurbulence foreignObject glyphRef linearGradient \
    radialGradient textPath";

/// The same of attributes.
const SVG_ATTRIBUTES: &str = "attributeName attributeType baseFrequency baseProfile calcMode clipPathUnits \
    diffuseConstant edgeMode filterUnits glyphRef gradientTransform gradientUnits kernelMatrix kernelUnitLength \
    keyPoints keySplines keyTimes lengthAdjust limitingConeAngle markerHeight markerUnits markerWidth \
    maskContentUnits maskUnits numOctaves pathLength patternContentUnits patternTransform patternUnits pointsAtX \
    pointsAtY pointsAtZ preserveAlpha preserveAspectRatio primitiveUnits refX refY repeatCount repeatDur \
    requiredExtensions requiredFeatures specularConstant specularExponent spreadMethod startOffset stdDeviation \
    stitchTiles surfaceScale systemLanguage tableValues targetX targetY textLength viewBox viewTarget \
    xChannelSelector yChannelSelector zoomAndPan";

const MATH_ATTRIBUTES: &str = "definitionURL";

/// The name as its language writes it.
fn cased(names: &'static str, lowered: &str) -> Option<&'static str> {
    names.split_whitespace().find(|name| name.eq_ignore_ascii_case(lowered))
}

/// Prefix and name of attributes that have a namespace.
fn prefixed(name: &str) -> Option<(Prefix, &str)> {
    let (prefix, local) = name.split_once(':')?;
    match (prefix, local) {
        ("xlink", "actuate" | "arcrole" | "href" | "role" | "show" | "title" | "type") => {
            Some((Prefix::Xlink, local))
        }
        ("xml", "lang" | "space") => Some((Prefix::Xml, local)),
        ("xmlns", "xlink") => Some((Prefix::Xmlns, local)),
        _ => None,
    }
}

impl Parser<'_> {
    /// Whether the token falls under these rules.
    pub(super) fn is_in_foreign_content(&self) -> bool {
        let Some(&top) = self.open.last() else { return false };
        let Content::Element { namespace, name, .. } = self.document.node(top).content else {
            return false;
        };
        if namespace == Namespace::Html {
            return false;
        }
        match self.kind() {
            Kind::Start => {
                let is_math_only = matches!(self.token.name, Name::MGLYPH | Name::MALIGNMARK);
                let is_svg_in_xml = namespace == Namespace::Math
                    && name == Name::ANNOTATION_XML
                    && self.token.name == Name::SVG;
                !((self.holds_math_text(top) && !is_math_only)
                    || is_svg_in_xml
                    || self.document.holds_html(top))
            }
            Kind::Text => !(self.holds_math_text(top) || self.document.holds_html(top)),
            Kind::Eof => false,
            _ => true,
        }
    }

    fn holds_math_text(&self, id: NodeId) -> bool {
        matches!(
            self.document.node(id).content,
            Content::Element {
                namespace: Namespace::Math,
                name: Name::MI | Name::MO | Name::MN | Name::MS | Name::MTEXT,
                ..
            }
        )
    }

    pub(super) fn in_foreign_content(&mut self) -> IsConsumed {
        match self.kind() {
            Kind::Text => {
                if self.is_frameset_ok {
                    self.is_frameset_ok = is_blank_or_zero(self.text());
                }
                if self.text().contains('\0') {
                    let text = self.text().replace('\0', "\u{fffd}");
                    self.replace_text(&text);
                }
                self.add_text(self.token.text);
            }
            Kind::Comment => self.add_comment(),
            Kind::Start => return self.start_in_foreign_content(),
            Kind::End => return self.end_in_foreign_content(),
            Kind::Doctype | Kind::Eof => {}
        }
        true
    }

    fn start_in_foreign_content(&mut self) -> IsConsumed {
        let is_font = self.token.name == Name::FONT;
        let has_style = |entry: &Entry| matches!(entry.name, Name::COLOR | Name::FACE | Name::SIZE);
        if breaks_out(self.token.name) || (is_font && self.token.attributes.iter().any(has_style)) {
            let place = self.open.iter().rposition(|&node| {
                self.is_in_html(node)
                    || self.document.holds_html(node)
                    || self.holds_math_text(node)
            });
            if let Some(place) = place {
                self.open.truncate(place + 1);
            }
            return self.by_mode();
        }
        let namespace = self.document.element_namespace(self.top()).unwrap_or(Namespace::Svg);
        if namespace == Namespace::Svg
            && let Some(name) = cased(SVG_TAGS, self.document.name_text(self.token.name))
        {
            self.token.name = self.own_name(name);
        }
        self.add_foreign(namespace);
        // A `<title>` of SVG is no raw text.
        self.lexemes.next_is_not_raw();
        true
    }

    /// `<svg>` and `<math>` themselves.
    pub(super) fn begin_foreign(&mut self, namespace: Namespace) {
        self.reopen_formatting();
        self.add_foreign(namespace);
    }

    fn add_foreign(&mut self, namespace: Namespace) {
        let names = if namespace == Namespace::Svg { SVG_ATTRIBUTES } else { MATH_ATTRIBUTES };
        let mut attributes = std::mem::take(&mut self.token.attributes);
        for entry in &mut attributes {
            let known = self.document.name_text(entry.name);
            if let Some(name) = cased(names, known) {
                entry.name = self.own_name(name);
            } else if let Some((prefix, local)) = prefixed(known) {
                let local = local.to_owned();
                (entry.prefix, entry.name) = (prefix, self.own_name(&local));
            }
        }
        self.token.attributes = attributes;
        self.add_element_in(namespace);
        if self.is_self_closing {
            self.open.pop();
            self.is_self_closing = false;
        }
    }

    fn end_in_foreign_content(&mut self) -> IsConsumed {
        let wanted = self.document.name_text(self.token.name);
        for (place, &node) in self.open.iter().enumerate().rev() {
            if self.document.tag(node).eq_ignore_ascii_case(wanted) {
                self.open.truncate(place);
                return true;
            }
            if place > 0 && self.is_in_html(self.open[place - 1]) {
                break;
            }
        }
        self.by_mode()
    }
}
