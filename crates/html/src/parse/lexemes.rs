//! From text to pieces: tags, text, comments. Nothing is copied; all is told by where it stands.

use std::ops::Range;

use memchr::{memchr, memchr2};
use rustc_hash::FxHashSet;

use crate::name::Name;

/// A piece of the page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Lexeme {
    Text(Range<usize>, Text),
    Start {
        name: Range<usize>,
        is_closed: bool,
    },
    End {
        name: Range<usize>,
    },
    Comment(Range<usize>),
    Doctype(Range<usize>),
    /// Nothing follows. A tag that is cut off is nothing.
    Eof,
}

/// How a text is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Text {
    Plain,
    /// In `<textarea>` and `<title>`; zero bytes are replaced.
    Escapable,
    /// In `<script>` and its kind: no `&` means anything.
    Raw,
}

/// An attribute of the last start tag: its name as written, and its value.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) name: Range<usize>,
    pub(super) value: Range<usize>,
}

/// Attributes up to this number are searched for one of the same name, more are hashed.
const FEW: usize = 16;

pub(super) struct Lexemes<'a> {
    page: &'a [u8],
    at: usize,
    /// The page has been read beyond its end.
    has_ended: bool,
    /// The element whose text comes next, if only its end tag ends it.
    raw: Option<Name>,
    /// Whether `<![CDATA[…]]>` is text.
    pub(super) allow_cdata: bool,
    /// Of the last start tag.
    pub(super) pairs: Vec<Pair>,
    seen: FxHashSet<Vec<u8>>,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'\x0c')
}

/// Behind the name of a tag.
fn ends_name(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'/' | b'>')
}

impl<'a> Lexemes<'a> {
    pub(super) fn new(page: &'a str) -> Self {
        Self {
            page: page.as_bytes(),
            at: 0,
            has_ended: false,
            raw: None,
            allow_cdata: false,
            pairs: Vec::new(),
            seen: FxHashSet::default(),
        }
    }

    /// What comes next is no raw text, whatever element it is in.
    pub(super) fn next_is_not_raw(&mut self) {
        self.raw = None;
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.page.get(self.at).copied();
        match byte {
            Some(_) => self.at += 1,
            None => self.has_ended = true,
        }
        byte
    }

    /// Goes to the end.
    fn finish(&mut self) {
        self.at = self.page.len();
        self.has_ended = true;
    }

    fn rest(&self) -> &'a [u8] {
        &self.page[self.at..]
    }

    /// Goes past white space; `None` if nothing follows.
    fn skip_space(&mut self) -> Option<()> {
        while is_space(self.byte()?) {}
        self.at -= 1;
        Some(())
    }

    pub(super) fn next(&mut self) -> Lexeme {
        let start = self.at;
        if self.has_ended {
            return Lexeme::Eof;
        }
        if let Some(raw) = self.raw.take() {
            let kind = self.raw_text(raw);
            if self.at > start {
                return Lexeme::Text(start..self.at, kind);
            }
        }
        self.piece(start).unwrap_or_else(|| {
            if start < self.at {
                return Lexeme::Text(start..self.at, Text::Plain);
            }
            Lexeme::Eof
        })
    }

    /// `None` if the page ends before there is anything but text.
    fn piece(&mut self, start: usize) -> Option<Lexeme> {
        loop {
            match memchr(b'<', self.rest()) {
                Some(offset) => self.at += offset + 1,
                None => self.finish(),
            }
            let byte = self.byte()?;
            if !(byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!' | b'?')) {
                self.at -= 1;
                continue;
            }
            // The text before it comes first.
            if self.at - 2 > start {
                self.at -= 2;
                return Some(Lexeme::Text(start..self.at, Text::Plain));
            }
            return match byte {
                b'/' => self.end_tag(),
                b'!' => Some(self.declaration()),
                b'?' => {
                    self.at -= 1;
                    Some(Lexeme::Comment(self.until_bracket()))
                }
                _ => Some(self.start_tag()),
            };
        }
    }

    fn end_tag(&mut self) -> Option<Lexeme> {
        match self.byte()? {
            // An empty comment, as in Go.
            b'>' => Some(Lexeme::Comment(self.at..self.at)),
            byte if byte.is_ascii_alphabetic() => {
                let name = self.tag(false);
                Some(if self.has_ended { Lexeme::Eof } else { Lexeme::End { name } })
            }
            _ => {
                self.at -= 1;
                Some(Lexeme::Comment(self.until_bracket()))
            }
        }
    }

    fn start_tag(&mut self) -> Lexeme {
        let name = self.tag(true);
        if self.has_ended {
            return Lexeme::Eof;
        }
        let first = self.page[name.start].to_ascii_lowercase();
        if matches!(first, b'i' | b'n' | b'p' | b's' | b't' | b'x') {
            self.raw = Name::known_lowered(&self.page[name.clone()]).filter(|&name| {
                matches!(
                    name,
                    Name::IFRAME
                        | Name::NOEMBED
                        | Name::NOFRAMES
                        | Name::NOSCRIPT
                        | Name::PLAINTEXT
                        | Name::SCRIPT
                        | Name::STYLE
                        | Name::TEXTAREA
                        | Name::TITLE
                        | Name::XMP
                )
            });
        }
        // `<p a=/>` is not closed: the slash is the value.
        let slash = self.at - 2;
        let is_closed = self.page[slash] == b'/'
            && self.pairs.last().is_none_or(|pair| slash + 1 != pair.value.end);
        Lexeme::Start { name, is_closed }
    }

    /// A tag whose name's first letter has been read; returns the name.
    fn tag(&mut self, keep: bool) -> Range<usize> {
        self.pairs.clear();
        let name = self.word(ends_name);
        if self.has_ended || self.skip_space().is_none() {
            return name;
        }
        loop {
            match self.byte() {
                None | Some(b'>') => break,
                Some(_) => self.at -= 1,
            }
            let pair = self.pair();
            if keep && !pair.name.is_empty() && self.is_new(&pair.name) {
                self.pairs.push(pair);
            }
            if self.has_ended || self.skip_space().is_none() {
                break;
            }
        }
        name
    }

    /// Whether no attribute of the tag has this name yet.
    fn is_new(&mut self, name: &Range<usize>) -> bool {
        let page = self.page;
        let text = |range: &Range<usize>| &page[range.clone()];
        if self.pairs.len() < FEW {
            let mut pairs = self.pairs.iter();
            return !pairs.any(|pair| text(&pair.name).eq_ignore_ascii_case(text(name)));
        }
        if self.pairs.len() == FEW {
            self.seen.clear();
            self.seen.extend(self.pairs.iter().map(|pair| text(&pair.name).to_ascii_lowercase()));
        }
        self.seen.insert(text(name).to_ascii_lowercase())
    }

    /// From the letter that was just read to one that ends it; a space after it is passed over.
    fn word(&mut self, ends: impl Fn(u8) -> bool) -> Range<usize> {
        let start = self.at - 1;
        let Some(length) = self.rest().iter().position(|&byte| ends(byte)) else {
            self.finish();
            return start..self.at;
        };
        self.at += length;
        let end = self.at;
        if is_space(self.page[end]) {
            self.at += 1;
        }
        start..end
    }

    fn pair(&mut self) -> Pair {
        let start = self.at;
        // A `=` at the start is a part of the name.
        let skipped = usize::from(self.rest().first() == Some(&b'='));
        let rest = &self.rest()[skipped..];
        match rest.iter().position(|&byte| ends_name(byte) || byte == b'=') {
            Some(length) => self.at += skipped + length,
            None => self.finish(),
        }
        let name = start..self.at;
        let value = if self.has_ended { self.at..self.at } else { self.value() };
        Pair { name, value }
    }

    fn value(&mut self) -> Range<usize> {
        let none = self.at..self.at;
        if self.skip_space().is_none() {
            return none;
        }
        match self.byte() {
            None | Some(b'/') => return none,
            Some(b'=') => {}
            Some(_) => {
                self.at -= 1;
                return none;
            }
        }
        if self.skip_space().is_none() {
            return none;
        }
        match self.byte() {
            None => none,
            Some(b'>') => {
                self.at -= 1;
                none
            }
            Some(quote @ (b'\'' | b'"')) => {
                let start = self.at;
                if let Some(length) = memchr(quote, self.rest()) {
                    self.at += length + 1;
                    return start..self.at - 1;
                }
                self.finish();
                start..self.at
            }
            Some(_) => self.word(|byte| is_space(byte) || byte == b'>'),
        }
    }

    fn until_bracket(&mut self) -> Range<usize> {
        let start = self.at;
        if let Some(length) = memchr(b'>', self.rest()) {
            self.at += length + 1;
            return start..self.at - 1;
        }
        self.finish();
        start..self.at
    }

    /// Behind `<!`.
    fn declaration(&mut self) -> Lexeme {
        let start = self.at;
        let rest = self.rest();
        if rest.len() < 2 {
            self.finish();
            let end = self.at - usize::from(rest == b">");
            return Lexeme::Comment(start..end);
        }
        if rest.starts_with(b"--") {
            self.at += 2;
            return Lexeme::Comment(self.comment());
        }
        if rest.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"doctype")) {
            self.at += 7;
            if self.skip_space().is_none() {
                return Lexeme::Doctype(self.at..self.at);
            }
            return Lexeme::Doctype(self.until_bracket());
        }
        if self.allow_cdata && rest.starts_with(b"[CDATA[") {
            self.at += 7;
            return Lexeme::Text(self.cdata(), Text::Escapable);
        }
        Lexeme::Comment(self.until_bracket())
    }

    fn cdata(&mut self) -> Range<usize> {
        let start = self.at;
        let mut brackets = 0;
        while let Some(byte) = self.byte() {
            match byte {
                b']' => brackets += 1,
                b'>' if brackets >= 2 => return start..self.at - 3,
                _ => brackets = 0,
            }
        }
        start..self.at
    }

    /// Behind `<!--`.
    fn comment(&mut self) -> Range<usize> {
        let start = self.at;
        let (mut dashes, mut is_beginning) = (0, true);
        loop {
            let Some(byte) = self.byte() else { return self.cut_comment(start) };
            match byte {
                b'-' => {
                    dashes += 1;
                    continue;
                }
                b'>' if dashes >= 2 || is_beginning => {
                    return start..(self.at - 3).max(start);
                }
                b'!' if dashes >= 2 => match self.byte() {
                    None => return self.cut_comment(start),
                    Some(b'>') => return start..(self.at - 4).max(start),
                    Some(b'-') => {
                        (dashes, is_beginning) = (1, false);
                        continue;
                    }
                    Some(_) => {}
                },
                _ => {}
            }
            (dashes, is_beginning) = (0, false);
            if !matches!(byte, b'-' | b'>' | b'!') {
                // Nothing else matters.
                let length = memchr::memchr3(b'-', b'>', b'!', self.rest());
                self.at += length.unwrap_or(self.rest().len());
            }
        }
    }

    /// A comment that the page's end cuts off.
    fn cut_comment(&self, start: usize) -> Range<usize> {
        let text = &self.page[start..self.at];
        let ends = [b"--!".as_slice(), b"--", b"-"];
        let end = ends.iter().find(|end| text.ends_with(end)).map_or(0, |end| end.len());
        start..self.at - end
    }

    /// The text of an element that only its own end tag ends.
    fn raw_text(&mut self, tag: Name) -> Text {
        match tag {
            Name::PLAINTEXT => self.finish(),
            Name::SCRIPT => self.script(),
            _ => loop {
                let Some(offset) = memchr(b'<', self.rest()) else {
                    self.finish();
                    break;
                };
                self.at += offset + 1;
                match self.byte() {
                    None => break,
                    Some(b'/') => {
                        if self.raw_end_tag(tag).is_none_or(|found| found) {
                            break;
                        }
                    }
                    Some(_) => self.at -= 1,
                }
            },
        }
        if matches!(tag, Name::TEXTAREA | Name::TITLE) { Text::Escapable } else { Text::Raw }
    }

    /// Behind `</`: whether this is the end of the element. If so, goes back to the `<`. `None` if the page has ended.
    fn raw_end_tag(&mut self, tag: Name) -> Option<bool> {
        let tag = tag.text().unwrap_or("").as_bytes();
        for &letter in tag {
            if self.byte()?.to_ascii_lowercase() != letter {
                self.at -= 1;
                return Some(false);
            }
        }
        let is_end = ends_name(self.byte()?);
        self.at -= if is_end { 3 + tag.len() } else { 1 };
        Some(is_end)
    }

    /// The text of a script. One in a comment may have scripts in it.
    fn script(&mut self) {
        let _ = self.script_data();
    }

    /// `None` if the page ended first.
    fn script_data(&mut self) -> Option<()> {
        loop {
            let Some(offset) = memchr(b'<', self.rest()) else {
                self.finish();
                return None;
            };
            self.at += offset + 1;
            match self.byte()? {
                b'/' => {
                    if self.raw_end_tag(Name::SCRIPT)? {
                        return Some(());
                    }
                }
                b'!' => {
                    let rest = self.rest();
                    if rest.starts_with(b"--") {
                        self.at += 2;
                        if self.script_comment(2)? {
                            return Some(());
                        }
                    } else {
                        self.at += usize::from(rest.first() == Some(&b'-'));
                    }
                }
                _ => self.at -= 1,
            }
        }
    }

    /// A comment in a script, after so many dashes. Whether it ended with the script, not before.
    fn script_comment(&mut self, dashes: usize) -> Option<bool> {
        let mut dashes = dashes;
        loop {
            match self.byte()? {
                b'-' => dashes += 1,
                b'>' if dashes >= 2 => return Some(false),
                b'<' => {
                    dashes = 0;
                    match self.byte()? {
                        b'/' => {
                            if self.raw_end_tag(Name::SCRIPT)? {
                                return Some(true);
                            }
                        }
                        byte if byte.is_ascii_alphabetic() => {
                            self.at -= 1;
                            if self.begins_script()? {
                                if !self.inner_script()? {
                                    return Some(false);
                                }
                                dashes = 0;
                            }
                        }
                        // As in Go: what follows is no comment any more.
                        _ => {
                            self.at -= 1;
                            return Some(false);
                        }
                    }
                }
                _ => dashes = 0,
            }
        }
    }

    /// Whether `script` and the end of a name follow.
    fn begins_script(&mut self) -> Option<bool> {
        for &letter in b"script" {
            if self.byte()?.to_ascii_lowercase() != letter {
                self.at -= 1;
                return Some(false);
            }
        }
        let is_end = ends_name(self.byte()?);
        if !is_end {
            self.at -= 1;
        }
        Some(is_end)
    }

    /// A script in a comment in a script: whether it has ended in the comment; if not, the comment has ended before it.
    fn inner_script(&mut self) -> Option<bool> {
        let mut dashes = 0;
        loop {
            if dashes == 0 {
                let skipped = memchr2(b'-', b'<', self.rest()).unwrap_or(self.rest().len());
                self.at += skipped;
            }
            match self.byte()? {
                b'-' => dashes += 1,
                b'>' if dashes >= 2 => return Some(false),
                b'<' => {
                    dashes = 0;
                    if self.byte()? != b'/' {
                        self.at -= 1;
                    } else if self.raw_end_tag(Name::SCRIPT)? {
                        self.at += b"</script>".len();
                        return Some(true);
                    }
                }
                _ => dashes = 0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces, each between brackets, tags with their attributes.
    fn pieces(page: &str) -> String {
        let mut lexemes = Lexemes::new(page);
        let mut shown = String::new();
        loop {
            let lexeme = lexemes.next();
            let text = |range: &Range<usize>| &page[range.clone()];
            let next = match &lexeme {
                Lexeme::Eof => return shown,
                Lexeme::Text(range, Text::Plain) => format!("[{}]", text(range)),
                Lexeme::Text(range, kind) => format!("[{kind:?} {}]", text(range)),
                Lexeme::Comment(range) => format!("[!{}]", text(range)),
                Lexeme::Doctype(range) => format!("[D {}]", text(range)),
                Lexeme::End { name } => format!("[/{}]", text(name)),
                Lexeme::Start { name, is_closed } => {
                    let pairs = lexemes.pairs.iter();
                    let pairs: Vec<_> = pairs
                        .map(|pair| format!(" {}={}", text(&pair.name), text(&pair.value)))
                        .collect();
                    let pairs = pairs.concat();
                    format!("[<{}{pairs}{}]", text(name), if *is_closed { "/" } else { "" })
                }
            };
            shown.push_str(&next);
        }
    }

    #[test]
    fn a_page_falls_into_tags_text_and_comments() {
        let cases = [
            ("a<b c=d E='f' c=2 g>h</b x=y>", "[a][<b c=d E=f g=][h][/b]"),
            ("<a/><a b=/><a b=c/ d/>", "[<a/][<a b=/][<a b=c/ d=/]"),
            ("<a =b==c><a/b/>", "[<a =b==c][<a b=/]"),
            ("a < b <3 <", "[a < b <3 <]"),
            ("</>x</ y>z</", "[!][x][! y][z][</]"),
            ("<!doctype x><!-- c --><!--><!--a--!>", "[D x][! c ][!][!a]"),
            ("<?x?><!y><![CDATA[z]]>", "[!?x?][!y][![CDATA[z]]]"),
            ("<!--a--", "[!a]"),
            ("a<b c=", "[a]"),
            ("<title>a<b></titlex></title>c", "[<title][Escapable a<b></titlex>][/title][c]"),
            ("<STYLE><p></style>", "[<STYLE][Raw <p>][/style]"),
            ("<plaintext></plaintext>", "[<plaintext][Raw </plaintext>]"),
            ("<script></script>", "[<script][/script]"),
        ];
        for (page, expected) in cases {
            assert_eq!(pieces(page), expected, "{page}");
        }
    }

    #[test]
    fn a_script_in_a_comment_in_a_script_does_not_end_it() {
        let cases = [
            ("<script><!--<script></script>--></script>x", "[Raw <!--<script></script>-->]"),
            ("<script><!--</script>x", "[Raw <!--]"),
            ("<script><!--<scripty></script>x", "[Raw <!--<scripty>]"),
            ("<script>a<!b</script>x", "[Raw a<!b]"),
        ];
        for (page, text) in cases {
            assert_eq!(pieces(page), format!("[<script]{text}[/script][x]"), "{page}");
        }
    }

    #[test]
    fn of_many_attributes_each_name_counts_once() {
        let names: Vec<_> = (0..40).map(|number| format!(" a{}=x", number % 30)).collect();
        let page = format!("<p{}>", names.concat());
        let mut lexemes = Lexemes::new(&page);
        assert!(matches!(lexemes.next(), Lexeme::Start { .. }));
        assert_eq!(lexemes.pairs.len(), 30);
    }
}
