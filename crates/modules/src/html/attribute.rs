//! `Attr`: an attribute of an element.

use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_html::{Attribute, NodeId};
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name};

use super::Page;
use super::element;
use crate::state::throw_type;

static NAME: Name = Name::new("name");
static VALUE: Name = Name::new("value");

/// What the object holds: the rest are its properties.
struct Attr {
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
    let Some(attribute) = page.document.attributes(owner).nth(index) else {
        return Ok(ctx.undefined());
    };
    let (name, value) = (ctx.string(attribute.name())?, ctx.string(attribute.value())?);
    let object = ctx.instance(Attr { page: Rc::clone(page), owner, index })?;
    object.define(&NAME, name)?;
    object.define(&VALUE, value)?;
    Ok(object)
}

impl Class for Attr {
    const NAME: &'static CStr = c"Attr";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"localName", 0, |call| read(call, Attribute::name))
                .function(c"namespaceURI", 0, |call| {
                    read(call, |attribute| match attribute.prefix() {
                        "xlink" => "http://www.w3.org/1999/xlink",
                        "xml" => "http://www.w3.org/XML/1998/namespace",
                        "xmlns" => "http://www.w3.org/2000/xmlns/",
                        _ => "http://www.w3.org/1999/xhtml",
                    })
                })
                .getter(c"owner_element", |call| {
                    let this = call.this();
                    match this.instance::<Attr>() {
                        Some(attr) => element::element(call.ctx(), &attr.page, attr.owner),
                        None => Ok(call.ctx().undefined()),
                    }
                })
                .function(c"prefix", 0, |call| read(call, Attribute::prefix))
        });
        &MEMBERS
    }
}

fn read<'js>(call: Call<'js>, part: for<'a> fn(&Attribute<'a>) -> &'a str) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let Some(attr) = this.instance::<Attr>() else {
        return Err(throw_type(ctx, "this method belongs to an Attr"));
    };
    match attr.page.document.attributes(attr.owner).nth(attr.index) {
        Some(attribute) => ctx.string(part(&attribute)),
        None => Ok(ctx.undefined()),
    }
}
