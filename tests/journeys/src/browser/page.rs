//! A page, its forms and its links.

use brunt_html::{Document, NodeId, Selector};
use brunt_traffic::{Resource, Response};
use serde_json::Value;
use url::{Url, form_urlencoded};

use super::{Ask, File};

/// A response that the browser shows, or that a script of a page reads.
pub struct Page {
    /// After redirects.
    pub url: Url,
    /// 200 and so on.
    pub status: u16,
    /// The response.
    pub response: Response,
    /// The body as text.
    pub text: String,
    document: Document,
}

/// A form that is filled in.
#[derive(Debug, Clone)]
pub struct Form {
    url: Url,
    is_post: bool,
    is_multipart: bool,
    fields: Vec<(String, Content)>,
}

#[derive(Debug, Clone)]
enum Content {
    Text(String),
    File(Option<File>),
}

impl Page {
    pub(super) fn new(url: Url, response: Response) -> Self {
        let body = response.body.in_memory().unwrap_or_default();
        let text = String::from_utf8_lossy(body).into_owned();
        let is_html = response.headers.media_type() == "text/html";
        let document = Document::parse(if is_html { &text } else { "" });
        let document = document.expect("a page of ours is not too deep");
        Self { url, status: response.status, response, text, document }
    }

    fn find(&self, selector: &str) -> Vec<NodeId> {
        Selector::new(selector).find(&self.document, &[self.document.root()])
    }

    fn first(&self, selector: &str) -> NodeId {
        let found = self.find(selector);
        let shown = || format!("{} has no {selector}:\n{}", self.url, self.text);
        *found.first().unwrap_or_else(|| panic!("{}", shown()))
    }

    /// The page, which must have something that this selector finds: else the journey has left its way.
    #[must_use]
    pub fn must_have(self, selector: &str) -> Self {
        self.first(selector);
        self
    }

    /// The response, which must have this status.
    #[must_use]
    pub fn must_be(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}:\n{}", self.url, self.text);
        self
    }

    /// An attribute of the first element that the selector finds.
    pub fn attribute(&self, selector: &str, name: &str) -> String {
        let node = self.first(selector);
        let value = self.document.attribute(node, name);
        value.unwrap_or_else(|| panic!("{selector} of {} has no {name}", self.url)).to_owned()
    }

    /// A header of the response.
    pub fn header(&self, name: &str) -> String {
        let value = self.response.headers.get(name);
        value.unwrap_or_else(|| panic!("{} gives no {name}", self.url)).to_owned()
    }

    /// The text between two others.
    pub fn between(&self, left: &str, right: &str) -> String {
        let found = self.text.split_once(left).and_then(|(_, rest)| rest.split_once(right));
        found.unwrap_or_else(|| panic!("no {left:?} in {}:\n{}", self.url, self.text)).0.to_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        let json = serde_json::from_str(&self.text);
        json.unwrap_or_else(|error| panic!("{}: {error}:\n{}", self.url, self.text))
    }

    /// A text in the JSON body, by its pointer (`/user/id`).
    pub fn leaf(&self, pointer: &str) -> String {
        let json = self.json();
        let found = json.pointer(pointer);
        match found.unwrap_or_else(|| panic!("{} has no {pointer}: {json}", self.url)) {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// The first form that the selector finds, as the page fills it in.
    pub fn form(&self, selector: &str) -> Form {
        let form = self.first(selector);
        let document = &self.document;
        let of = |name| document.attribute(form, name).unwrap_or_default();
        let url = self.url.join(of("action")).expect("a form's address is valid");
        let mut fields = Vec::new();
        for node in document.descendants(form) {
            let of = |name| document.attribute(node, name);
            let Some(name) = of("name").filter(|name| !name.is_empty()) else { continue };
            if of("disabled").is_some() {
                continue;
            }
            let value = of("value").unwrap_or_default().to_owned();
            let content = match (document.name(node), of("type").unwrap_or("text")) {
                ("input", "submit" | "button" | "image" | "reset") => continue,
                ("input", "file") => Content::File(None),
                ("input", "checkbox" | "radio") if of("checked").is_none() => continue,
                ("input", _) => Content::Text(value),
                ("textarea", _) => Content::Text(document.text(node)),
                ("select", _) => {
                    let all = Selector::new("option").find(document, &[node]);
                    let is_chosen = |option: &&NodeId| document.has(**option, "selected");
                    let chosen = all.iter().find(is_chosen).or(all.first());
                    let value = chosen.and_then(|option| document.attribute(*option, "value"));
                    Content::Text(value.unwrap_or_default().to_owned())
                }
                _ => continue,
            };
            fields.push((name.to_owned(), content));
        }
        Form {
            url,
            is_post: of("method").eq_ignore_ascii_case("post"),
            is_multipart: of("enctype") == "multipart/form-data",
            fields,
        }
    }

    /// Styles, scripts and pictures of the page.
    pub(super) fn files(&self) -> Vec<(Url, Resource)> {
        let kinds = [
            ("link[rel=stylesheet]", "href", Resource::Stylesheet),
            ("script[src]", "src", Resource::Script),
            ("img[src]", "src", Resource::Image),
        ];
        let mut all = Vec::new();
        for (selector, name, resource) in kinds {
            for node in self.find(selector) {
                let source = self.document.attribute(node, name).unwrap_or_default();
                all.extend(self.url.join(source).map(|url| (url, resource)));
            }
        }
        all
    }
}

impl Form {
    /// The user types, or a script of the page sets a field.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        let field = self.fields.iter_mut().find(|(known, _)| known == name);
        let (_, content) = field.unwrap_or_else(|| panic!("the form has no field {name}"));
        *content = Content::Text(value.to_owned());
        self
    }

    /// The user presses a button or checks a box; a script of the page adds a field.
    #[must_use]
    pub fn add(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.to_owned(), Content::Text(value.to_owned())));
        self
    }

    /// The user chooses a file.
    #[must_use]
    pub fn file(mut self, name: &str, file: File) -> Self {
        let field = self.fields.iter_mut().find(|(known, _)| known == name);
        let (_, content) = field.unwrap_or_else(|| panic!("the form has no field {name}"));
        *content = Content::File(Some(file));
        self
    }

    /// The request that a script of the page makes of the form.
    pub fn into_ask(self) -> Ask {
        if self.is_multipart {
            return self.multipart();
        }
        let texts = self.fields.iter().map(|(name, content)| match content {
            Content::Text(text) => (name.as_str(), text.as_str()),
            Content::File(file) => (name.as_str(), file.as_ref().map_or("", |file| file.name)),
        });
        let texts = texts.map(|(name, text)| (name, text.replace('\n', "\r\n")));
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(texts).finish();
        if self.is_post {
            let ask = Ask::new("POST", self.url);
            return ask.bytes("application/x-www-form-urlencoded", body.as_bytes());
        }
        let mut url = self.url;
        url.set_query(Some(&body));
        Ask::new("GET", url)
    }

    fn multipart(self) -> Ask {
        const BOUNDARY: &str = "----WebKitFormBoundaryq7QbB2n0xAIeD1lK";
        let mut body = Vec::new();
        for (name, content) in &self.fields {
            let (more, bytes) = match content {
                Content::Text(text) => (String::new(), text.replace('\n', "\r\n").into_bytes()),
                Content::File(None) => (
                    "; filename=\"\"\r\nContent-Type: application/octet-stream".to_owned(),
                    Vec::new(),
                ),
                Content::File(Some(file)) => (
                    format!("; filename=\"{}\"\r\nContent-Type: {}", file.name, file.kind),
                    file.bytes.clone(),
                ),
            };
            let head = format!(
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n"
            );
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(&bytes);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        let ask = Ask::new("POST", self.url);
        ask.bytes(&format!("multipart/form-data; boundary={BOUNDARY}"), &body)
    }
}
