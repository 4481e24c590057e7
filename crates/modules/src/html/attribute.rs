//! `Attr`: an attribute of an element.

use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_html::{Attribute, NodeId};
use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Own, Value};

use super::page::Page;
use super::{bound, element};
use crate::throwing::throw_type;

/// Its properties, in the order in which k6 lists them.
const NAMES: [&str; 6] = ["owner_element", "name", "value", "localName", "namespaceURI", "prefix"];

/// The content of the object.
#[derive(Clone)]
pub(super) struct Attr {
    page: Rc<Page>,
    owner: NodeId,
    index: usize,
}

/// The object of an element's attribute at this place.
pub(super) fn attribute<'js>(
    ctx: Ctx<'js>,
    page: &Rc<Page>,
    owner: NodeId,
    index: usize,
) -> JsResult<'js> {
    ctx.instance(Attr { page: Rc::clone(page), owner, index })
}

impl Attr {
    fn part<'a>(&'a self, part: impl Fn(&Attribute<'a>) -> &'a str) -> &'a str {
        let attribute = self.page.document.attributes(self.owner).nth(self.index);
        attribute.map_or("", |attribute| part(&attribute))
    }
}

impl Class for Attr {
    const NAME: &'static CStr = c"Attr";
    const EXOTIC: bool = true;
    const DYNAMIC: bool = true;

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"localName", 0, |call| read(call, |attr| attr.part(Attribute::name)))
                .function(c"namespaceURI", 0, |call| {
                    read(call, |attr| match attr.part(|attribute| attribute.prefix()) {
                        "xlink" => "http://www.w3.org/1999/xlink",
                        "xml" => "http://www.w3.org/XML/1998/namespace",
                        "xmlns" => "http://www.w3.org/2000/xmlns/",
                        _ => "http://www.w3.org/1999/xhtml",
                    })
                })
                .function(c"prefix", 0, |call| {
                    read(call, |attr| attr.part(|attribute| attribute.prefix()))
                })
        });
        &MEMBERS
    }

    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        let Some(name) = key.text() else { return Ok(Own::None) };
        Ok(match name.as_str() {
            "owner_element" => Own::Once(element::plain(ctx, &self.page, self.owner)?),
            "name" => Own::Once(ctx.string(self.part(Attribute::name))?),
            "value" => Own::Once(ctx.string(self.part(Attribute::value))?),
            "localName" | "namespaceURI" | "prefix" => {
                let natives = ctx.class_prototype::<Self>()?;
                Own::Once(bound::method(ctx, &natives, key, self.clone())?)
            }
            _ => Own::None,
        })
    }

    fn dynamic_names(&self, _: Ctx<'_>) -> Vec<String> {
        NAMES.map(str::to_owned).to_vec()
    }

    fn assign<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>, _: &Value<'js>) -> JsResult<'js, ()> {
        bound::refuse_assignment(ctx, key)
    }

    fn remove<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, ()> {
        bound::refuse_removal(ctx, key, |name| NAMES.contains(&name))
    }
}

fn read<'js>(call: Call<'js>, part: impl Fn(&Attr) -> &str) -> JsResult<'js> {
    match call.this().instance::<Attr>() {
        Some(attr) => call.ctx().string(part(attr)),
        None => Err(throw_type(call.ctx(), "this method belongs to an Attr")),
    }
}
