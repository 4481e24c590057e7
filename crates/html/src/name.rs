//! Names of elements and attributes, as numbers.

/// A name: one of those that the parser knows, or one of its document's own. Two names of one document are the same
/// text if and only if they are the same number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Name(u32);

macro_rules! names {
    ($($constant:ident $text:literal)*) => {
        const TEXTS: [&str; [$($text),*].len()] = [$($text),*];

        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "they only count the constants")]
        enum Place { $($constant),* }

        #[allow(dead_code, reason = "some names have no use but to be found by their number")]
        impl Name {
            $(pub(crate) const $constant: Name = Name(Place::$constant as u32);)*
        }
    };
}

names! {
    A "a" ABBR "abbr" ACTION "action" ADDRESS "address" ALIGN "align" ALT "alt" ANNOTATION_XML "annotation-xml"
    APPLET "applet" AREA "area" ARIA_HIDDEN "aria-hidden" ARIA_LABEL "aria-label" ARTICLE "article" ASIDE "aside"
    ASYNC "async" AUDIO "audio" AUTOCOMPLETE "autocomplete" B "b" BASE "base" BASEFONT "basefont" BDI "bdi" BDO "bdo"
    BGSOUND "bgsound" BIG "big" BLOCKQUOTE "blockquote" BODY "body" BORDER "border" BR "br" BUTTON "button"
    CANVAS "canvas" CAPTION "caption" CELLPADDING "cellpadding" CELLSPACING "cellspacing" CENTER "center"
    CHARSET "charset" CHECKED "checked" CITE "cite" CLASS "class" CODE "code" COL "col" COLGROUP "colgroup"
    COLOR "color" COLSPAN "colspan" CONTENT "content" CROSSORIGIN "crossorigin" D "d" DATA "data" DATALIST "datalist"
    DATETIME "datetime" DD "dd" DEFER "defer" DEL "del" DESC "desc" DETAILS "details" DFN "dfn" DIALOG "dialog"
    DIR "dir" DISABLED "disabled" DIV "div" DL "dl" DT "dt" EM "em" EMBED "embed" ENCODING "encoding"
    ENCTYPE "enctype" FACE "face" FIELDSET "fieldset" FIGCAPTION "figcaption" FIGURE "figure" FILL "fill" FONT "font"
    FOOTER "footer" FOR "for" FOREIGN_OBJECT "foreignObject" FORM "form" FRAME "frame" FRAMESET "frameset" G "g" H1 "h1" H2 "h2" H3 "h3" H4 "h4"
    H5 "h5" H6 "h6" HEAD "head" HEADER "header" HEIGHT "height" HGROUP "hgroup" HIDDEN "hidden" HR "hr" HREF "href"
    HTML "html" HTTP_EQUIV "http-equiv" I "i" ID "id" IFRAME "iframe" IMAGE "image" IMG "img" INPUT "input" INS "ins"
    KBD "kbd" KEYGEN "keygen" LABEL "label" LANG "lang" LEGEND "legend" LI "li" LINK "link" LISTING "listing"
    LOADING "loading" MAIN "main" MALIGNMARK "malignmark" MAP "map" MARK "mark" MARQUEE "marquee" MATH "math" MAX "max"
    MAXLENGTH "maxlength" MEDIA "media" MENU "menu" MENUITEM "menuitem" META "meta" METER "meter" METHOD "method"
    MGLYPH "mglyph" MI "mi" MIN "min" MN "mn" MO "mo" MS "ms" MTEXT "mtext" MULTIPLE "multiple" NAME "name" NAV "nav"
    NOBR "nobr" NOEMBED "noembed" NOFRAMES "noframes" NOSCRIPT "noscript" OBJECT "object" OL "ol" ONCLICK "onclick"
    OPTGROUP "optgroup" OPTION "option" OUTPUT "output" P "p" PARAM "param" PATH "path" PICTURE "picture"
    PLACEHOLDER "placeholder" PLAINTEXT "plaintext" PRE "pre" PROGRESS "progress" PROPERTY "property" Q "q" RB "rb"
    READONLY "readonly" REL "rel" REQUIRED "required" ROLE "role" ROWSPAN "rowspan" RP "rp" RT "rt" RTC "rtc"
    RUBY "ruby" S "s" SAMP "samp" SCRIPT "script" SEARCH "search" SECTION "section" SELECT "select"
    SELECTED "selected" SIZE "size" SIZES "sizes" SMALL "small" SOURCE "source" SPAN "span" SRC "src" SRCSET "srcset"
    STRIKE "strike" STRONG "strong" STYLE "style" SUB "sub" SUMMARY "summary" SUP "sup" SVG "svg" TABINDEX "tabindex"
    TABLE "table" TARGET "target" TBODY "tbody" TD "td" TEMPLATE "template" TEXTAREA "textarea" TFOOT "tfoot" TH "th"
    THEAD "thead" TIME "time" TITLE "title" TR "tr" TRACK "track" TT "tt" TYPE "type" U "u" UL "ul" USE "use"
    VALUE "value" VAR "var" VIDEO "video" WBR "wbr" WIDTH "width" XMP "xmp"
}

/// Slots of the table; a power of two, four times the names.
const SLOTS: usize = 1024;

/// Where the names lie by their hash; a slot that is taken leads to the next.
static TABLE: [u16; SLOTS] = {
    let mut table = [u16::MAX; SLOTS];
    let mut index = 0;
    while index < TEXTS.len() {
        let mut slot = hash(TEXTS[index].as_bytes());
        while table[slot] != u16::MAX {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = index as u16;
        index += 1;
    }
    table
};

const fn hash(text: &[u8]) -> usize {
    let mut hash = text.len() as u32;
    let mut index = 0;
    while index < text.len() {
        hash = (hash ^ text[index] as u32).wrapping_mul(0x9e37_79b1);
        index += 1;
    }
    (hash >> 16) as usize % SLOTS
}

impl Name {
    /// The known name that this is, to the letter.
    pub(crate) fn known(text: &str) -> Option<Self> {
        let mut slot = hash(text.as_bytes());
        while TABLE[slot] != u16::MAX {
            let index = TABLE[slot];
            if TEXTS[usize::from(index)] == text {
                return Some(Self(u32::from(index)));
            }
            slot = (slot + 1) % SLOTS;
        }
        None
    }

    /// Elements without content and end tag.
    pub(crate) fn is_void(self) -> bool {
        matches!(
            self,
            Self::AREA
                | Self::BASE
                | Self::BR
                | Self::COL
                | Self::EMBED
                | Self::HR
                | Self::IMG
                | Self::INPUT
                | Self::KEYGEN
                | Self::LINK
                | Self::META
                | Self::PARAM
                | Self::SOURCE
                | Self::TRACK
                | Self::WBR
        )
    }

    /// The name at this place of the document's own names.
    pub(crate) fn own(index: usize) -> Self {
        let index = u32::try_from(index + TEXTS.len());
        Self(index.expect("a document has fewer names than its limit of bytes"))
    }

    /// Its text, or its place among the document's own names.
    pub(crate) fn text(self) -> Result<&'static str, usize> {
        let index = self.0 as usize;
        TEXTS.get(index).copied().ok_or(index.wrapping_sub(TEXTS.len()))
    }
}

/// A name to be looked for in any document.
#[derive(Clone, Debug)]
pub(crate) struct NameTest {
    known: Option<Name>,
    text: Box<str>,
}

impl NameTest {
    pub(crate) fn new(text: &str) -> Self {
        Self { known: Name::known(text), text: text.into() }
    }

    pub(crate) fn known(&self) -> Option<Name> {
        self.known
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_name_is_found() {
        for text in TEXTS {
            assert_eq!(Name::known(text).and_then(|name| name.text().ok()), Some(text));
        }
        assert_eq!(Name::known("class"), Some(Name::CLASS));
        assert_eq!(Name::known("Class"), None);
        assert_eq!(Name::known("foreignObject"), Some(Name::FOREIGN_OBJECT));
        assert_eq!(Name::known(""), None);
        assert_eq!(Name::own(3).text(), Err(3));
    }
}
