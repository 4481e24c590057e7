//! The plan of a script: where each value that it sends comes from.
//!
//! Laws, which tests try on every recording:
//! - The recorded texts of a substitution's pieces, joined, are the recorded text of its place.
//! - A finder, applied to the recorded response of its extraction, gives the recorded text.
//! - A value is sent only after it was extracted, made or read.

/// All of it.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// For each exchange: the exchange whose redirect led to it and to which it is folded, always the first of its chain. The
    /// script sends the first alone and lets the client follow; what is extracted from the last one is taken from that response.
    /// `None`: the script sends it.
    pub folded: Vec<Option<usize>>,
    /// In the order of the exchanges that give them.
    pub extractions: Vec<Extraction>,
    /// Places whose recorded text is replaced, in the order of exchanges.
    pub substitutions: Vec<Substitution>,
    /// Requests that send a form of an earlier page.
    pub forms: Vec<FormUse>,
    /// Values that the client made itself, and the script makes anew.
    pub made: Vec<Made>,
    /// Texts that the user typed or chose: columns of the data file.
    pub inputs: Vec<Input>,
    /// Passwords, keys, tokens that were there before the recording began.
    pub secrets: Vec<Secret>,
    /// Literals that look like tokens and have no source.
    pub suspects: Vec<Suspect>,
}

/// A value that the script takes from a response.
#[derive(Debug, Clone)]
pub struct Extraction {
    /// The exchange whose response gives it: never one that is folded, unless it is the last of its chain.
    pub exchange: usize,
    /// The variable's name in camel case (`viewState`, `orderId`). Extractions of one name are one variable, renewed.
    pub name: String,
    /// The text that was recorded. It may be a secret: no message and no file shows it.
    pub recorded: String,
    /// Where it may come from, the best first; at least one.
    pub candidates: Vec<Source>,
    /// Which candidate the script uses.
    pub chosen: usize,
}

impl Extraction {
    /// The candidate that the script uses.
    pub fn source(&self) -> &Source {
        &self.candidates[self.chosen.min(self.candidates.len() - 1)]
    }
}

/// Where in a response a value is, and what is done to it there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// It finds the text.
    pub finder: Finder,
    /// From the found text to the value, in this order.
    pub changes: Vec<Change>,
}

/// Finds a text in a response. Selectors are CSS, as k6's `html().find()` takes them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Finder {
    /// The value of a field of a page: `selector` finds the field (`#login input[name="csrf"]`), the `nth` of all matches, from 0.
    Field {
        /// Of the field.
        selector: Vec<Piece>,
        /// From 0.
        nth: usize,
    },
    /// An attribute of an element: `content` of a `meta`, `href` of a link, `action` of a form, `data-…`.
    Attribute {
        /// Of the element.
        selector: Vec<Piece>,
        /// From 0.
        nth: usize,
        /// Its name.
        attribute: String,
    },
    /// The text of an element, with white space trimmed.
    Text {
        /// Of the element.
        selector: Vec<Piece>,
        /// From 0.
        nth: usize,
    },
    /// A leaf of a JSON body; a number is written as in the body.
    Json(Vec<PathStep>),
    /// The CDATA of `<update id="…">` in a partial response of JSF: the first one whose id contains this text. `inside` finds
    /// something in its HTML; `None` is the whole text.
    Update {
        /// Part of the id: `javax.faces.ViewState`.
        id: String,
        /// In the HTML of the update.
        inside: Option<Box<Finder>>,
    },
    /// A header of the response.
    Header(String),
    /// A cookie that the jar has for the URL of the exchange.
    Cookie(String),
    /// The URL of the response, after redirects.
    Url,
    /// The text of the body between two texts that stand around it: a JavaScript literal, anything else. `nth` of all matches, from 0.
    Between {
        /// Before it.
        left: String,
        /// After it; an empty text is the end of the body.
        right: String,
        /// From 0.
        nth: usize,
    },
    /// A message from the server over the WebSocket that this exchange opened: the `nth` of those, from 0, and where in it.
    Message {
        /// From 0, among those of the server.
        nth: usize,
        /// In its text; `None` is the whole.
        inside: Option<Box<Finder>>,
    },
    /// The data of an event of `text/event-stream`, the `nth`, from 0, and where in it.
    Event {
        /// From 0.
        nth: usize,
        /// In its data; `None` is the whole.
        inside: Option<Box<Finder>>,
    },
}

/// A step into JSON.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// A member of an object.
    Key(String),
    /// An element of an array, from 0.
    Index(usize),
    /// The first element whose member has this text: `{"name":"anvil","id":7}`.
    Where {
        /// The member.
        key: String,
        /// Its text.
        is: Vec<Piece>,
    },
}

/// From one text to another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Change {
    /// The text between two texts; an empty one is the begin or the end.
    Between(String, String),
    /// A part of it, split by a text; from 0.
    Split(String, usize),
    /// A parameter of it as a URL (query or fragment), decoded.
    Parameter(String),
    /// A segment of it as a URL's path, from 0, decoded.
    Segment(usize),
    /// A leaf of it as JSON.
    Json(Vec<PathStep>),
    /// `%41` to `A`.
    UrlDecode,
    /// As `encodeURIComponent` has it.
    UrlEncode,
    /// `&#43;` to `+`.
    HtmlDecode,
    /// `\u002b` to `+`: a JavaScript or JSON string's inside.
    JsonDecode,
    /// A JSON string's inside.
    JsonEncode,
    /// Standard alphabet, to UTF-8.
    Base64Decode,
    /// Standard alphabet, padded.
    Base64Encode,
    /// URL alphabet, to UTF-8.
    Base64UrlDecode,
    /// URL alphabet, no padding.
    Base64UrlEncode,
    /// With these texts around it: a user's name before a key, before both are encoded. None of the pieces is a value.
    Around(Vec<Piece>, Vec<Piece>),
}

/// A part of a text that the script sends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// As it is.
    Literal(String),
    /// The value of an extraction, by index.
    Value {
        /// In [`Plan::extractions`].
        extraction: usize,
        /// Done to it, in this order.
        changes: Vec<Change>,
    },
    /// By index in [`Plan::made`].
    Made(usize),
    /// By index in [`Plan::inputs`].
    Input(usize),
    /// By index in [`Plan::secrets`].
    Secret(usize),
}

/// A place of a request whose text is made of pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitution {
    /// The exchange that sends it.
    pub exchange: usize,
    /// Where.
    pub place: Place,
    /// Joined, they are the text.
    pub pieces: Vec<Piece>,
}

/// A place of a request. Its text is decoded: the script encodes it as the place wants.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// The whole URL. A relative one is resolved against the URL of the response that gave it.
    Url,
    /// A segment of the path, from 0, percent-decoded.
    Segment(usize),
    /// The value of a parameter of the query, by index in the recorded query, decoded.
    Query(usize),
    /// The value of a header, by index in [`Headers`](brunt_traffic::Headers).
    Header(usize),
    /// The value of a cookie that no response set: the script puts it into the jar before the request.
    Cookie(String),
    /// The value of a field of a form in `application/x-www-form-urlencoded`, by index, decoded.
    Field(usize),
    /// The text of a part of `multipart/form-data`, by index.
    Part(usize),
    /// A leaf of a JSON body, by keys and indices; a number stays a number.
    Json(Vec<PathStep>),
    /// The whole body as text.
    Body,
    /// The text of a WebSocket message of the client, by index in `Exchange::messages`.
    Message(usize),
    /// A leaf of such a message as JSON.
    MessageJson(usize, Vec<PathStep>),
}

/// A request that sends a form of an earlier page: all fields that the page filled in are taken from the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormUse {
    /// The exchange that sends it.
    pub exchange: usize,
    /// The exchange whose page has the form: the newest. It is never folded, unless it is the last of its chain.
    pub page: usize,
    /// The form's selector, unique on the page (`#login`, `form[action="/items/7/delete"]`).
    pub selector: Vec<Piece>,
    /// If the page came as an update of a partial response: part of the update's id.
    pub update: Option<String>,
    /// Indices of the request's fields (or parts) whose values are the page's: hidden fields, and those that the user left as
    /// they were. The others are the user's and have substitutions if they vary.
    pub from_page: Vec<usize>,
}

/// A value that the client makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The variable's name.
    pub name: String,
    /// As recorded.
    pub recorded: String,
    /// How to make another.
    pub kind: MadeKind,
    /// The exchange that sends it first.
    pub first: usize,
}

/// How a client makes a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MadeKind {
    /// A random UUID.
    Uuid,
    /// Milliseconds since 1970.
    Milliseconds,
    /// Seconds since 1970.
    Seconds,
    /// RFC 3339 in UTC with milliseconds: `2026-11-26T10:00:00.000Z`.
    Timestamp,
    /// Random hexadecimal digits, of this number.
    Hex(usize),
    /// Random letters of the URL-safe alphabet of base64, of this number.
    Base64Url(usize),
    /// Random letters and digits, of this number.
    Alphanumeric(usize),
    /// Random decimal digits, of this number, as JavaScript's `Math.random()` gives them.
    Digits(usize),
    /// `base64url(sha256(verifier))` of PKCE (RFC 7636 §4.2): the verifier's index in [`Plan::made`].
    PkceChallenge(usize),
}

/// A text that a user typed or chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The column's name in the data file.
    pub name: String,
    /// As typed.
    pub recorded: String,
}

/// A text that must not be in a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its key in the file of secrets.
    pub name: String,
    /// Its text, for that file alone.
    pub recorded: String,
}

/// A literal that looks like a token and that no response gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    /// The exchange that sends it.
    pub exchange: usize,
    /// Where.
    pub place: Place,
    /// The field's, parameter's or header's name, for the message.
    pub name: String,
    /// Why it looks so, for the user; without its text.
    pub why: String,
}
