//! `Element`: a node, with what the DOM calls properties as methods. Kinds of elements have more: see `typed.rs`.

use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_html::query::Side;
use brunt_html::{Document, Kind, NodeId, Selector, query};
use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Own, Value};

use super::page::Page;
use super::selection::{Selection, selection};
use super::{attribute, bound, typed};
use crate::throwing::throw_type;

const HTML: &str = "http://www.w3.org/1999/xhtml";

/// The content of the object.
#[derive(Clone)]
pub(super) struct Element {
    page: Rc<Page>,
    node: NodeId,
    part: Part,
}

/// Which of its methods an object shows. k6's elements hold simpler ones of the same node, which scripts see as
/// properties.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All that its kind has.
    Whole,
    /// The members that its kind shares with others.
    Shared,
    /// The members of all elements.
    Plain,
}

/// The property that leads to what all elements have.
const PLAIN: &str = "element";

impl Element {
    pub(super) fn page(&self) -> &Rc<Page> {
        &self.page
    }

    pub(super) fn node(&self) -> NodeId {
        self.node
    }

    pub(super) fn document(&self) -> &Document {
        &self.page.document
    }

    fn tag(&self) -> &str {
        self.document().tag(self.node)
    }

    fn to_part(&self, part: Part) -> Self {
        Self { part, ..self.clone() }
    }

    /// The methods beside those of all.
    fn kind_members(&self) -> Option<&'static Members> {
        match self.part {
            Part::Whole => typed::members(self.tag()),
            Part::Shared => typed::shared(self.tag()).map(|(_, members)| members),
            Part::Plain => None,
        }
    }

    /// Its name in k6's refusals; `None` for elements without methods of their kind.
    pub(super) fn type_name(&self) -> Option<String> {
        if self.part == Part::Plain {
            return Some("*html.Element".to_owned());
        }
        self.kind_members().map(|_| typed::type_name(self.tag()))
    }

    /// The object that the simpler one is a property of, by its name.
    fn simpler(&self, name: &str) -> Option<Self> {
        if name == PLAIN {
            return self.kind_members().map(|_| self.to_part(Part::Plain));
        }
        let is_shared = self.part == Part::Whole
            && typed::shared(self.tag()).is_some_and(|(shared, _)| shared == name);
        is_shared.then(|| self.to_part(Part::Shared))
    }
}

/// The object of a node, with the methods of its kind.
///
/// # Errors
/// If the VM's memory limit is reached.
pub(super) fn element<'js>(ctx: Ctx<'js>, page: &Rc<Page>, node: NodeId) -> JsResult<'js> {
    ctx.instance(Element { page: Rc::clone(page), node, part: Part::Whole })
}

/// The same, with the methods of all elements alone.
///
/// # Errors
/// As [`element`].
pub(super) fn plain<'js>(ctx: Ctx<'js>, page: &Rc<Page>, node: NodeId) -> JsResult<'js> {
    ctx.instance(Element { page: Rc::clone(page), node, part: Part::Plain })
}

/// The functions of a kind of elements: made once in a VM, kept by those that all have.
fn natives<'js>(ctx: Ctx<'js>, one: &Element, members: &'static Members) -> JsResult<'js> {
    let common = ctx.class_prototype::<Element>()?;
    let mark = if one.part == Part::Shared { "\0shared " } else { "\0" };
    let key = format!("{mark}{}", one.tag());
    let known = common.get(key.as_str())?;
    if known.is_object() {
        return Ok(known);
    }
    let made = ctx.object_with_prototype(&common)?;
    made.define_members(members)?;
    common.define_hidden(key.as_str(), made.clone())?;
    Ok(made)
}

fn has(members: &Members, name: &str) -> bool {
    members.names().any(|known| known.to_bytes() == name.as_bytes())
}

/// The objects of many.
///
/// # Errors
/// As [`element`].
pub(super) fn elements<'js>(
    ctx: Ctx<'js>,
    page: &Rc<Page>,
    nodes: impl IntoIterator<Item = NodeId>,
) -> JsResult<'js> {
    let array = ctx.array()?;
    for (index, node) in nodes.into_iter().enumerate() {
        array.set_index(index as u32, element(ctx, page, node)?)?;
    }
    Ok(array)
}

/// Calls a function with the element that a method is called on.
pub(super) fn with<'js>(
    call: Call<'js>,
    read: impl FnOnce(Ctx<'js>, &Element) -> JsResult<'js>,
) -> JsResult<'js> {
    match call.this().instance::<Element>() {
        Some(element) => read(call.ctx(), element),
        None => Err(throw_type(call.ctx(), "this method belongs to an Element")),
    }
}

/// A node that may not be there.
pub(super) fn maybe<'js>(
    ctx: Ctx<'js>,
    element_here: &Element,
    node: Option<NodeId>,
) -> JsResult<'js> {
    match node {
        Some(node) => element(ctx, &element_here.page, node),
        None => Ok(ctx.undefined()),
    }
}

fn near<'js>(
    call: Call<'js>,
    find: impl FnOnce(&Document, NodeId) -> Option<NodeId>,
) -> JsResult<'js> {
    with(call, |ctx, this| maybe(ctx, this, find(this.document(), this.node)))
}

impl Class for Element {
    const NAME: &'static CStr = c"Element";
    const EXOTIC: bool = true;
    const DYNAMIC: bool = true;

    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        let Some(name) = key.text() else { return Ok(Own::None) };
        let members = self.kind_members();
        if let Some(members) = members.filter(|members| has(members, &name)) {
            let natives = natives(ctx, self, members)?;
            return Ok(Own::Once(bound::method(ctx, &natives, key, self.clone())?));
        }
        if has(<Self as Class>::members(), &name) {
            let natives = ctx.class_prototype::<Self>()?;
            return Ok(Own::Once(bound::method(ctx, &natives, key, self.clone())?));
        }
        match self.simpler(&name) {
            Some(simpler) => Ok(Own::Once(ctx.instance(simpler)?)),
            None => Ok(Own::None),
        }
    }

    fn dynamic_names(&self, _: Ctx<'_>) -> Vec<String> {
        let members = self.kind_members();
        let mut names = Vec::new();
        if self.part == Part::Whole {
            names.extend(typed::shared(self.tag()).map(|(name, _)| name));
        }
        names.extend(members.map(|_| PLAIN));
        names.extend(bound::sorted(
            [Some(<Self as Class>::members()), members].into_iter().flatten(),
        ));
        names.into_iter().map(str::to_owned).collect()
    }

    fn assign<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>, _: &Value<'js>) -> JsResult<'js, ()> {
        bound::refuse_assignment(ctx, key)
    }

    fn remove<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, ()> {
        bound::refuse_removal(ctx, key, |name| {
            has(<Self as Class>::members(), name)
                || self.kind_members().is_some_and(|members| has(members, name))
        })
    }

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            around(Members::new())
                .function(c"attributes", 0, attributes)
                .function(c"childElementCount", 0, |call| {
                    with(call, |ctx, this| {
                        let count = this.document().child_elements(this.node).count();
                        Ok(ctx.number(count as f64))
                    })
                })
                .function(c"classList", 0, |call| {
                    with(call, |ctx, this| {
                        let classes = this.document().attribute(this.node, "class");
                        strings(ctx, classes.unwrap_or("").split_whitespace())
                    })
                })
                .function(c"className", 0, |call| optional(call, "class"))
                .function(c"contains", 1, contains)
                .function(c"getAttribute", 1, |call| {
                    let name = call.argument(0).to_string_lossy()?;
                    optional(call, &name)
                })
                .function(c"getAttributeNode", 1, attribute_node)
                .function(c"getElementsByClassName", 1, |call| {
                    let selector = format!(".{}", call.argument(0).to_string_lossy()?);
                    all(call, &selector)
                })
                .function(c"getElementsByTagName", 1, |call| {
                    let selector = call.argument(0).to_string_lossy()?;
                    all(call, &selector)
                })
                .function(c"hasAttribute", 1, |call| {
                    let name = call.argument(0).to_string_lossy()?;
                    with(call, |ctx, this| Ok(ctx.bool(this.document().has(this.node, &name))))
                })
                .function(c"hasAttributes", 0, |call| {
                    with(call, |ctx, this| {
                        Ok(ctx.bool(this.document().attributes(this.node).len() > 0))
                    })
                })
                .function(c"hasChildNodes", 0, |call| {
                    with(call, |ctx, this| {
                        Ok(ctx.bool(this.document().first_child(this.node).is_some()))
                    })
                })
                .function(c"id", 0, |call| {
                    with(call, |ctx, this| {
                        ctx.string(this.document().attribute(this.node, "id").unwrap_or(""))
                    })
                })
                .function(c"innerHTML", 0, |call| {
                    with(call, |ctx, this| match this.document().inner_html(this.node) {
                        Some(html) => ctx.string(&html),
                        None => Ok(ctx.undefined()),
                    })
                })
                .function(c"isDefaultNamespace", 0, |call| {
                    with(call, |ctx, this| {
                        let namespace = this.document().namespace(this.node);
                        Ok(ctx.bool(namespace.is_none_or(|namespace| namespace == HTML)))
                    })
                })
                .function(c"isEqualNode", 1, is_equal)
                .function(c"isSameNode", 1, is_same)
                .function(c"lang", 0, |call| optional(call, "lang"))
                .function(c"matches", 1, |call| {
                    let selector = Selector::new(&call.argument(0).to_string_lossy()?);
                    with(call, |ctx, this| {
                        Ok(ctx.bool(selector.matches(this.document(), this.node)))
                    })
                })
                .function(c"namespaceURI", 0, |call| {
                    with(call, |ctx, this| {
                        ctx.string(this.document().namespace(this.node).unwrap_or(HTML))
                    })
                })
                .function(c"nodeName", 0, |call| {
                    with(call, |ctx, this| ctx.string(this.document().name(this.node)))
                })
                .function(c"nodeType", 0, |call| {
                    with(call, |ctx, this| Ok(ctx.int(this.document().kind(this.node) as i32)))
                })
                .function(c"nodeValue", 0, node_value)
                .function(c"querySelector", 1, |call| {
                    let selector = Selector::new(&call.argument(0).to_string_lossy()?);
                    near(call, |document, node| selector.find_first(document, node))
                })
                .function(c"querySelectorAll", 1, |call| {
                    let selector = call.argument(0).to_string_lossy()?;
                    all(call, &selector)
                })
                .function(c"selection", 0, |call| {
                    with(call, |ctx, this| {
                        selection(ctx, Selection::of(&this.page, vec![this.node]))
                    })
                })
                .function(c"textContent", 0, |call| {
                    with(call, |ctx, this| ctx.string(&this.document().text(this.node)))
                })
                .function(c"toString", 0, |call| {
                    with(call, |ctx, this| {
                        if this.document().is_element(this.node) {
                            return ctx.string("[object html.Node]");
                        }
                        ctx.string(&format!("[object {}]", this.document().name(this.node)))
                    })
                })
        });
        &MEMBERS
    }
}

/// The methods that lead to other nodes.
fn around(members: Members) -> Members {
    members
        .function(c"childNodes", 0, |call| {
            with(call, |ctx, this| elements(ctx, &this.page, this.document().children(this.node)))
        })
        .function(c"children", 0, |call| {
            with(call, |ctx, this| {
                elements(ctx, &this.page, this.document().child_elements(this.node))
            })
        })
        .function(c"firstChild", 0, |call| near(call, Document::first_child))
        .function(c"firstElementChild", 0, |call| {
            near(call, |document, node| document.child_elements(node).next())
        })
        .function(c"lastChild", 0, |call| near(call, Document::last_child))
        .function(c"lastElementChild", 0, |call| {
            near(call, |document, node| document.child_elements(node).last())
        })
        .function(c"nextElementSibling", 0, |call| {
            near(call, |document, node| query::elements_beside(document, node, Side::After).next())
        })
        .function(c"nextSibling", 0, |call| near(call, Document::next))
        .function(c"ownerDocument", 0, |call| near(call, |document, _| Some(document.root())))
        .function(c"parentElement", 0, |call| {
            near(call, |document, node| {
                document.parent(node).filter(|&parent| document.is_element(parent))
            })
        })
        .function(c"parentNode", 0, |call| near(call, Document::parent))
        .function(c"previousElementSibling", 0, |call| {
            near(call, |document, node| query::elements_beside(document, node, Side::Before).next())
        })
        .function(c"previousSibling", 0, |call| near(call, Document::previous))
}

/// An array of strings.
pub(super) fn strings<'js, 'a>(
    ctx: Ctx<'js>,
    texts: impl Iterator<Item = &'a str>,
) -> JsResult<'js> {
    ctx.array_from(texts.map(|text| ctx.string(text)).collect::<Result<Vec<_>, _>>()?)
}

/// An attribute; `undefined` if there is none.
fn optional<'js>(call: Call<'js>, name: &str) -> JsResult<'js> {
    with(call, |ctx, this| match this.document().attribute(this.node, name) {
        Some(value) => ctx.string(value),
        None => Ok(ctx.undefined()),
    })
}

fn all<'js>(call: Call<'js>, selector: &str) -> JsResult<'js> {
    with(call, |ctx, this| {
        let found = Selector::new(selector).find(this.document(), &[this.node]);
        elements(ctx, &this.page, found)
    })
}

fn attributes(call: Call<'_>) -> JsResult<'_> {
    with(call, |ctx, this| {
        let object = ctx.object()?;
        for (index, one) in this.document().attributes(this.node).enumerate() {
            let value = attribute::attribute(ctx, &this.page, this.node, index)?;
            object.define(one.name(), value)?;
        }
        Ok(object)
    })
}

fn attribute_node(call: Call<'_>) -> JsResult<'_> {
    let name = call.argument(0).to_string_lossy()?;
    with(call, |ctx, this| {
        let mut attributes = this.document().attributes(this.node);
        match attributes.position(|one| one.name() == name) {
            Some(index) => attribute::attribute(ctx, &this.page, this.node, index),
            None => Ok(ctx.undefined()),
        }
    })
}

/// Text is its own value; that of comments is empty, as in k6.
fn node_value(call: Call<'_>) -> JsResult<'_> {
    with(call, |ctx, this| match this.document().kind(this.node) {
        Kind::Text => ctx.string(this.document().value(this.node).unwrap_or("")),
        Kind::Comment => ctx.string(""),
        _ => Ok(ctx.undefined()),
    })
}

/// The element that a method is given to compare with: as in k6 none that has methods of its own kind.
fn other<'a>(argument: &'a Value<'_>) -> Option<&'a Element> {
    argument.instance::<Element>().filter(|other| other.type_name().is_none())
}

fn contains(call: Call<'_>) -> JsResult<'_> {
    let argument = call.argument(0);
    with(call, |ctx, this| {
        let is_in = other(&argument).is_some_and(|other| {
            Rc::ptr_eq(&other.page, &this.page) && this.document().is_below(other.node, this.node)
        });
        Ok(ctx.bool(is_in))
    })
}

/// Whether both have the same content, as k6 compares.
fn is_equal(call: Call<'_>) -> JsResult<'_> {
    let argument = call.argument(0);
    with(call, |ctx, this| {
        let is_equal = other(&argument).is_some_and(|other| {
            let html = this.document().inner_html(this.node);
            html.is_some() && other.document().inner_html(other.node) == html
        });
        Ok(ctx.bool(is_equal))
    })
}

fn is_same(call: Call<'_>) -> JsResult<'_> {
    let argument = call.argument(0);
    with(call, |ctx, this| {
        let is_same = other(&argument)
            .is_some_and(|other| Rc::ptr_eq(&other.page, &this.page) && other.node == this.node);
        Ok(ctx.bool(is_same))
    })
}
