//! The parts of a page: pictures, styles, scripts, fetched at once.

use crate::code::{Entry, Expr, Statement};
use crate::session::Kind;
use crate::text::quoted;
use crate::value::Answer;
use crate::writer::Writer;

/// A part of a page.
struct Part {
    index: usize,
    method: String,
    url: String,
    params: Vec<Entry>,
    status: u16,
    /// Whether it is like the others but for its URL.
    is_plain: bool,
}

impl Writer<'_> {
    /// Fetches parts of a page at once, as a browser does.
    pub(crate) fn resources(&mut self, all: &[usize], setting: &'static str) -> Vec<Statement> {
        self.needs.add("import:http");
        self.needs.add("import:check");
        let mut out = Vec::new();
        let mut parts = Vec::with_capacity(all.len());
        for &index in all {
            out.extend(self.cookies(index));
            out.extend(self.made_values(index));
            parts.push(self.part(index));
        }
        let rows = if parts.len() > 1 && parts.iter().all(|part| part.is_plain) {
            let urls = parts
                .iter()
                .map(|part| Expr::Marked(part.index, Box::new(Expr::raw(part.url.clone()))));
            let name = self.local.take("parts", "parts");
            out.push(Statement::Line(format!("const {name} = "), Expr::Array(urls.collect())));
            let params = match self.common_headers(Kind::Resource) {
                Some("headers") => ", null, { headers }".to_owned(),
                Some(name) => format!(", null, {{ headers: {name} }}"),
                None => String::new(),
            };
            Expr::raw(format!("{name}.map((url) => ['GET', url{params}])"))
        } else {
            Expr::Array(parts.iter().map(row).collect())
        };
        let call = Expr::Call("http.batch".to_owned(), vec![rows]);
        out.push(Statement::Line(setting.to_owned(), call));
        out.push(check(&parts));
        for (at, &index) in all.iter().enumerate() {
            let res = format!("answers[{at}]");
            let heard = format!("eventData({res}.body)");
            out.extend(self.extractions(index, Answer { res: &res, heard: &heard }));
        }
        out
    }

    fn part(&mut self, index: usize) -> Part {
        let address = self.address(index);
        let status = self.status(index);
        let method = self.exchange(index).request.method.clone();
        let headers = self.headers(index, None);
        let has_own = matches!(&headers, Some(Entry::Prop(_, Expr::Object(_))));
        let is_plain = !has_own && method == "GET" && !address.is_dynamic && status < 400;
        let mut params: Vec<Entry> = headers.into_iter().collect();
        if status >= 400 {
            let call = format!("http.expectedStatuses({status})");
            params.push(Entry::Prop("responseCallback".to_owned(), Expr::raw(call)));
        }
        if address.is_dynamic {
            let name = Expr::raw(quoted(&self.metric_name(&address)));
            let tags = Expr::Object(vec![Entry::Prop("name".to_owned(), name)]);
            params.push(Entry::Prop("tags".to_owned(), tags));
        }
        Part { index, method, url: address.code, params, status, is_plain }
    }
}

/// `['GET', url, null, params]`
fn row(part: &Part) -> Expr {
    let mut items = vec![Expr::raw(quoted(&part.method)), Expr::raw(part.url.clone())];
    if !part.params.is_empty() {
        items.extend([Expr::raw("null"), Expr::Object(part.params.clone())]);
    }
    Expr::Marked(part.index, Box::new(Expr::Array(items)))
}

fn check(parts: &[Part]) -> Statement {
    let test = if parts.iter().all(|part| part.status < 400) {
        "(all) => all.every((r) => r.status > 0 && r.status < 400)".to_owned()
    } else {
        let all: Vec<String> = parts.iter().map(|part| part.status.to_string()).collect();
        format!("(all) => all.every((r, i) => r.status === [{}][i])", all.join(", "))
    };
    let entry = Entry::Prop(quoted("the parts of the page came"), Expr::raw(test));
    let arguments = vec![Expr::raw("answers"), Expr::Object(vec![entry])];
    Statement::Line(String::new(), Expr::Call("check".to_owned(), arguments))
}
