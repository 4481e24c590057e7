//! `Selection`: a list of nodes of one document, and the steps from one list to the next.

use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_html::query::{self, Side};
use brunt_html::{NodeId, Selector, form};
use brunt_http::form::urlencode;
use brunt_quickjs::class::Own;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Value, Weight};

use super::arguments::{Wanted, filter_of, is_truthy_call, wanted, wanted_but_elements};
use super::element::Element;
use super::page::Page;
use super::{bound, data, element};
use crate::reading::text_or_empty;
use crate::throwing::{throw, throw_stopped, throw_type};

static NAME: Name = Name::new("name");
static VALUE: Name = Name::new("value");

/// How many steps `end()` can go back.
const STEPS_MAX: u16 = 256;

/// The content of the object.
#[derive(Clone)]
pub(crate) struct Selection(Rc<Step>);

struct Step {
    page: Rc<Page>,
    nodes: Vec<NodeId>,
    /// Where it came from: see `end()`.
    previous: Option<Selection>,
    count: u16,
    /// Of the list.
    weight: Weight,
}

impl Selection {
    /// The first of its line.
    pub(crate) fn of(page: &Rc<Page>, nodes: Vec<NodeId>) -> Self {
        let weight = Weight::default();
        Self(Rc::new(Step { page: Rc::clone(page), nodes, previous: None, count: 0, weight }))
    }

    /// The next step from this one.
    fn to(&self, nodes: Vec<NodeId>) -> Self {
        let (previous, count) = match self.0.count {
            STEPS_MAX => (None, 0),
            count => (Some(self.clone()), count + 1),
        };
        let weight = Weight::default();
        Self(Rc::new(Step { page: Rc::clone(&self.0.page), nodes, previous, count, weight }))
    }

    /// The document.
    pub(crate) fn page(&self) -> &Rc<Page> {
        &self.0.page
    }

    /// The nodes.
    pub(crate) fn nodes(&self) -> &[NodeId] {
        &self.0.nodes
    }

    fn first(&self) -> Option<NodeId> {
        self.nodes().first().copied()
    }
}

/// The object.
///
/// # Errors
/// If the VM's memory limit is reached.
pub(crate) fn selection(ctx: Ctx<'_>, selection: Selection) -> JsResult<'_> {
    let step = &*selection.0;
    step.weight.set(ctx, size_of::<Step>() + size_of_val(step.nodes.as_slice()))?;
    ctx.instance(selection)
}

impl Class for Selection {
    const NAME: &'static CStr = c"Selection";
    const EXOTIC: bool = true;
    const DYNAMIC: bool = true;

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"add", 1, add)
                .function(c"attr", 2, attr)
                .function(c"children", 1, |call| filtered(call, query::children))
                .function(c"closest", 1, closest)
                .function(c"contents", 0, |call| {
                    step(call, |this| query::contents(&this.page().document, this.nodes()))
                })
                .function(c"data", 1, |call| {
                    let this = this(&call)?;
                    data::data(&call, &this.page().document, this.nodes().first().copied())
                })
                .function(c"each", 1, each)
                .function(c"end", 0, end)
                .function(c"eq", 1, eq)
                .function(c"filter", 1, filter)
                .function(c"find", 1, find)
                .function(c"first", 0, |call| step(call, |this| this.first().into_iter().collect()))
                .function(c"get", 1, get)
                .function(c"has", 1, has)
                .function(c"html", 0, html)
                .function(c"index", 1, index)
                .function(c"is", 1, is)
                .function(c"last", 0, |call| {
                    step(call, |this| this.nodes().last().copied().into_iter().collect())
                })
                .function(c"map", 1, map)
                .function(c"next", 1, |call| {
                    filtered(call, |document, nodes| query::neighbour(document, nodes, Side::After))
                })
                .function(c"nextAll", 1, |call| {
                    filtered(call, |document, nodes| {
                        query::beside(document, nodes, Side::After, |_| false)
                    })
                })
                .function(c"nextUntil", 2, |call| {
                    until(call, |this, stop| {
                        query::beside(&this.page().document, this.nodes(), Side::After, stop)
                    })
                })
                .function(c"not", 1, not)
                .function(c"parent", 1, |call| filtered(call, query::parents_direct))
                .function(c"parents", 1, |call| {
                    filtered(call, |document, nodes| query::parents(document, nodes, |_| false))
                })
                .function(c"parentsUntil", 2, |call| {
                    until(call, |this, stop| {
                        query::parents(&this.page().document, this.nodes(), stop)
                    })
                })
                .function(c"prev", 1, |call| {
                    filtered(call, |document, nodes| {
                        query::neighbour(document, nodes, Side::Before)
                    })
                })
                .function(c"prevAll", 1, |call| {
                    filtered(call, |document, nodes| {
                        query::beside(document, nodes, Side::Before, |_| false)
                    })
                })
                .function(c"prevUntil", 2, |call| {
                    until(call, |this, stop| {
                        query::beside(&this.page().document, this.nodes(), Side::Before, stop)
                    })
                })
                .function(c"serialize", 0, serialize)
                .function(c"serializeArray", 0, serialize_array)
                .function(c"serializeObject", 0, serialize_object)
                .function(c"siblings", 1, |call| filtered(call, query::siblings))
                .function(c"single", 1, single)
                .function(c"size", 0, |call| {
                    let this = this(&call)?;
                    Ok(call.ctx().number(this.nodes().len() as f64))
                })
                .function(c"slice", 2, slice)
                .function(c"text", 0, text)
                .function(c"toArray", 0, to_array)
                .function(c"val", 0, val)
        });
        &MEMBERS
    }

    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        let Some(name) = key.text() else { return Ok(Own::None) };
        if name == URL {
            return Ok(Own::Once(ctx.string(&self.page().url())?));
        }
        if METHODS.binary_search(&name.as_str()).is_err() {
            return Ok(Own::None);
        }
        let natives = ctx.class_prototype::<Self>()?;
        Ok(Own::Once(bound::method(ctx, &natives, key, self.clone())?))
    }

    fn dynamic_names(&self, _: Ctx<'_>) -> Vec<String> {
        std::iter::once(&URL).chain(METHODS.iter()).map(|&name| name.to_owned()).collect()
    }

    fn assign<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>, to: &Value<'js>) -> JsResult<'js, ()> {
        if key.text().is_some_and(|name| name == URL) {
            self.page().set_url(&to.to_string_lossy()?);
            return Ok(());
        }
        bound::refuse_assignment(ctx, key)
    }

    fn remove<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, ()> {
        bound::refuse_removal(ctx, key, |name| name == URL || METHODS.binary_search(&name).is_ok())
    }
}

/// The property beside the methods.
const URL: &str = "url";

/// The names of the methods, sorted.
static METHODS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| bound::sorted([Selection::members()]));

/// The selection that a method is called on.
pub(super) fn this<'js>(call: &Call<'js>) -> JsResult<'js, Selection> {
    match call.this().instance::<Selection>() {
        Some(selection) => Ok(selection.clone()),
        None => Err(throw_type(call.ctx(), "this method belongs to a Selection")),
    }
}

fn step<'js>(call: Call<'js>, next: impl FnOnce(&Selection) -> Vec<NodeId>) -> JsResult<'js> {
    let this = this(&call)?;
    selection(call.ctx(), this.to(next(&this)))
}

/// A step whose result an optional selector narrows.
fn filtered<'js>(
    call: Call<'js>,
    next: impl FnOnce(&brunt_html::Document, &[NodeId]) -> Vec<NodeId>,
) -> JsResult<'js> {
    let this = this(&call)?;
    let document = &this.page().document;
    let mut nodes = next(document, this.nodes());
    if let Some(selector) = filter_of(&call, 0)? {
        nodes.retain(|&node| selector.matches(document, node));
    }
    selection(call.ctx(), this.to(nodes))
}

/// A step that stops where its first argument says; the second narrows the result.
fn until<'js>(
    call: Call<'js>,
    next: impl FnOnce(&Selection, &dyn Fn(NodeId) -> bool) -> Vec<NodeId>,
) -> JsResult<'js> {
    let this = this(&call)?;
    let document = &this.page().document;
    let stop = call.argument(0);
    let stop = if stop.is_nullish() {
        Wanted::Nodes(Vec::new())
    } else {
        wanted_but_elements(call.ctx(), this.page(), &stop)?
    };
    let mut nodes = next(&this, &|node| stop.has(document, node));
    if let Some(selector) = filter_of(&call, 1)? {
        nodes.retain(|&node| selector.matches(document, node));
    }
    selection(call.ctx(), this.to(nodes))
}

fn add(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let more = wanted(call.ctx(), this.page(), &call.argument(0))?;
    let mut nodes = this.nodes().to_vec();
    nodes.extend(more.everywhere(&this.page().document));
    selection(call.ctx(), this.to(query::distinct(nodes)))
}

fn find(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let document = &this.page().document;
    let nodes = match wanted(call.ctx(), this.page(), &call.argument(0))? {
        Wanted::Selector(selector) => selector.find(document, this.nodes()),
        Wanted::Nodes(nodes) => query::below(document, this.nodes(), &nodes),
    };
    selection(call.ctx(), this.to(nodes))
}

/// The first that a selector finds.
fn single(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let document = &this.page().document;
    let selector = Selector::new(&call.argument(0).to_string_lossy()?);
    let found = this.nodes().iter().find_map(|&node| selector.find_first(document, node));
    selection(call.ctx(), this.to(found.into_iter().collect()))
}

fn closest(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let document = &this.page().document;
    let wanted = wanted(call.ctx(), this.page(), &call.argument(0))?;
    let nodes = query::closest(document, this.nodes(), |node| wanted.has(document, node));
    selection(call.ctx(), this.to(nodes))
}

fn has(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let document = &this.page().document;
    let inner = wanted(call.ctx(), this.page(), &call.argument(0))?.everywhere(document);
    selection(call.ctx(), this.to(query::with_below(document, this.nodes(), &inner)))
}

/// `filter()` and, with the other sign, `not()` of a function.
fn sift_by_function<'js>(
    call: &Call<'js>,
    this: &Selection,
    function: &Value<'js>,
    keep: bool,
) -> JsResult<'js, Vec<NodeId>> {
    let mut nodes = Vec::new();
    for (index, &node) in this.nodes().iter().enumerate() {
        let one = selection(call.ctx(), this.to(vec![node]))?;
        if is_truthy_call(function, index, one)? == keep {
            nodes.push(node);
        }
    }
    Ok(nodes)
}

/// The nodes that the argument of `filter()` and `is()` lets through.
fn sifted<'js>(call: &Call<'js>, this: &Selection, name: &str) -> JsResult<'js, Vec<NodeId>> {
    let argument = call.argument(0);
    if argument.is_function() {
        return sift_by_function(call, this, &argument, true);
    }
    let document = &this.page().document;
    let wanted = if argument.is_string() || argument.is_symbol() {
        Wanted::Selector(Selector::new(&text_or_empty(&argument)?))
    } else if argument.instance::<Selection>().is_some() {
        wanted(call.ctx(), this.page(), &argument)?
    } else {
        let message =
            format!("the argument to {name}() must be a function, a selector or a selection");
        return Err(throw(call.ctx(), &message));
    };
    Ok(this.nodes().iter().copied().filter(|&node| wanted.has(document, node)).collect())
}

fn filter(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let nodes = sifted(&call, &this, "filter")?;
    selection(call.ctx(), this.to(nodes))
}

fn is(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let nodes = sifted(&call, &this, "is")?;
    Ok(call.ctx().bool(!nodes.is_empty()))
}

fn not(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let argument = call.argument(0);
    let nodes = if argument.is_function() {
        sift_by_function(&call, &this, &argument, false)?
    } else {
        let document = &this.page().document;
        let wanted = wanted(call.ctx(), this.page(), &argument)?;
        this.nodes().iter().copied().filter(|&node| !wanted.has(document, node)).collect()
    };
    selection(call.ctx(), this.to(nodes))
}

fn end(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let previous = this.0.previous.clone();
    selection(call.ctx(), previous.unwrap_or_else(|| Selection::of(this.page(), Vec::new())))
}

/// An index as scripts give it, from the end if negative; `None` if there is no such node.
fn place(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add(length as i64)? } else { index };
    usize::try_from(index).ok().filter(|&index| index < length)
}

fn eq(call: Call<'_>) -> JsResult<'_> {
    let index = call.argument(0).to_integer()?;
    step(call, |this| {
        place(index, this.nodes().len()).map(|index| this.nodes()[index]).into_iter().collect()
    })
}

fn slice(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let length = this.nodes().len();
    let bound = |index: i64| {
        let index = if index < 0 { index.saturating_add(length as i64) } else { index };
        usize::try_from(index.max(0)).unwrap_or(usize::MAX).min(length)
    };
    let start = bound(call.argument(0).to_integer()?);
    let end = call.argument(1);
    let end = if end.is_undefined() { length } else { bound(end.to_integer()?) };
    let nodes = this.nodes().get(start..end).unwrap_or(&[]).to_vec();
    selection(call.ctx(), this.to(nodes))
}

fn get(call: Call<'_>) -> JsResult<'_> {
    let (ctx, this) = (call.ctx(), this(&call)?);
    if call.is_empty() {
        return element::elements(ctx, this.page(), this.nodes().iter().copied());
    }
    let index = call.argument(0).to_integer()?;
    // As in k6, which does not go back to the first one.
    let place = place(index, this.nodes().len()).filter(|&place| index >= 0 || place > 0);
    match place {
        Some(index) => element::element(ctx, this.page(), this.nodes()[index]),
        None => Ok(ctx.undefined()),
    }
}

fn index(call: Call<'_>) -> JsResult<'_> {
    let (ctx, this) = (call.ctx(), this(&call)?);
    let document = &this.page().document;
    let argument = call.argument(0);
    let found = if call.is_empty() {
        this.first().map(|node| query::elements_beside(document, node, Side::Before).count())
    } else if let Some(other) = argument.instance::<Selection>() {
        let is_here = Rc::ptr_eq(other.page(), this.page());
        let first = other.first().filter(|_| is_here);
        first.and_then(|first| this.nodes().iter().position(|&node| node == first))
    } else if let Some(other) = argument.instance::<Element>() {
        let is_here = other.type_name().is_none() && Rc::ptr_eq(other.page(), this.page());
        let mut nodes = this.nodes().iter();
        if is_here { nodes.position(|&node| node == other.node()) } else { None }
    } else if argument.is_object() {
        None
    } else {
        let all = Selector::new(&argument.to_string_lossy()?).find(document, &[document.root()]);
        this.first().and_then(|first| all.iter().position(|&node| node == first))
    };
    Ok(ctx.number(found.map_or(-1.0, |index| index as f64)))
}

fn each(call: Call<'_>) -> JsResult<'_> {
    let (ctx, this) = (call.ctx(), this(&call)?);
    let function = call.argument(0);
    if !function.is_function() {
        return Err(throw(ctx, "the argument to each() must be a function"));
    }
    for (index, &node) in this.nodes().iter().enumerate() {
        let element = element::element(ctx, this.page(), node)?;
        let outcome = function.call(&ctx.undefined(), &[ctx.number(index as f64), element]);
        if outcome.is_err() {
            let exception = caught(ctx)?;
            let text = exception.to_string_lossy()?;
            let text = format!("the function passed to each() failed: {text}");
            let text = match place_of(&exception) {
                Some(place) => format!("{text} {place}"),
                None => text,
            };
            return Err(throw(ctx, &text));
        }
    }
    Ok(call.this())
}

fn map(call: Call<'_>) -> JsResult<'_> {
    let (ctx, this) = (call.ctx(), this(&call)?);
    let function = call.argument(0);
    if !function.is_function() {
        return Err(throw(ctx, "the argument to map() must be a function"));
    }
    let mut values = Vec::new();
    for (index, &node) in this.nodes().iter().enumerate() {
        let one = selection(ctx, this.to(vec![node]))?;
        match function.call(&ctx.undefined(), &[ctx.number(index as f64), one]) {
            Ok(value) => values.push(value),
            // An element whose function fails is left out, as in k6.
            Err(_) => drop(caught(ctx)?),
        }
    }
    ctx.array_from(values)
}

/// The place where an error was thrown, as a line of its trace tells: `at f (file:///s.js:1:2(3))`.
fn place_of(exception: &Value<'_>) -> Option<String> {
    let stack = exception.error_stack()?;
    let stack = stack.as_str()?;
    let mut lines = stack.as_str().lines();
    let frame = lines.find(|line| line.starts_with("\tat ") && !line.ends_with("(native)"))?;
    Some(frame.trim_start().to_owned())
}

fn caught(ctx: Ctx<'_>) -> JsResult<'_> {
    match ctx.take_exception() {
        Some(exception) if !exception.uncatchable => Ok(exception.value),
        _ => Err(throw_stopped(ctx)),
    }
}

fn attr(call: Call<'_>) -> JsResult<'_> {
    let (ctx, this) = (call.ctx(), this(&call)?);
    let name = call.argument(0).to_js_str()?;
    let value = this.first().and_then(|node| this.page().document.attribute(node, name.as_str()));
    match value {
        Some(value) => ctx.string(value),
        None => Ok(call.argument(1)),
    }
}

fn html(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let Some(node) = this.first() else { return call.ctx().string("") };
    match this.page().document.inner_html(node) {
        Some(html) => call.ctx().string(&html),
        None => Ok(call.ctx().undefined()),
    }
}

fn text(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let mut text = String::new();
    for &node in this.nodes() {
        this.page().document.add_text(node, &mut text);
    }
    call.ctx().string(&text)
}

fn to_array(call: Call<'_>) -> JsResult<'_> {
    let (ctx, this) = (call.ctx(), this(&call)?);
    let ones = this.nodes().iter().map(|&node| selection(ctx, this.to(vec![node])));
    ctx.array_from(ones.collect::<Result<Vec<_>, _>>()?)
}

/// The value of a form's field in JavaScript.
pub(super) fn field<'js>(ctx: Ctx<'js>, field: Option<form::Field>) -> JsResult<'js> {
    match field {
        None => Ok(ctx.undefined()),
        Some(form::Field::Text(text)) => ctx.string(&text),
        Some(form::Field::List(list)) => {
            let list = list.iter().map(|text| ctx.string(text));
            ctx.array_from(list.collect::<Result<Vec<_>, _>>()?)
        }
    }
}

fn val(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let value = this.first().and_then(|node| form::value(&this.page().document, node));
    field(call.ctx(), value)
}

fn serialize_array(call: Call<'_>) -> JsResult<'_> {
    let (ctx, this) = (call.ctx(), this(&call)?);
    let array = ctx.array()?;
    let entries = form::entries(&this.page().document, this.nodes());
    for (index, (name, value)) in entries.into_iter().enumerate() {
        let entry = ctx.object_from([(&NAME, ctx.string(&name)?), (&VALUE, field(ctx, value)?)])?;
        array.set_index(index as u32, entry)?;
    }
    Ok(array)
}

fn serialize_object(call: Call<'_>) -> JsResult<'_> {
    let (ctx, this) = (call.ctx(), this(&call)?);
    let object = ctx.object()?;
    for (name, value) in form::entries(&this.page().document, this.nodes()) {
        object.define(name.as_str(), field(ctx, value)?)?;
    }
    Ok(object)
}

fn serialize(call: Call<'_>) -> JsResult<'_> {
    let this = this(&call)?;
    let mut pairs = Vec::new();
    // Of fields with the same name the last counts.
    let mut entries: Vec<(String, Option<form::Field>)> = Vec::new();
    for (name, value) in form::entries(&this.page().document, this.nodes()) {
        entries.retain(|(known, _)| *known != name);
        entries.push((name, value));
    }
    for (name, value) in entries {
        match value {
            None => {}
            Some(form::Field::Text(text)) => pairs.push((name, text)),
            Some(form::Field::List(list)) => {
                pairs.extend(list.into_iter().map(|text| (name.clone(), text)));
            }
        }
    }
    call.ctx().string(&encoded(pairs))
}

/// `a=1&b=2`, sorted by name.
pub(super) fn encoded(mut pairs: Vec<(String, String)>) -> String {
    pairs.sort_by(|one, other| one.0.cmp(&other.0));
    urlencode(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}
