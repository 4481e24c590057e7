//! `structuredClone(value[, { transfer }])`.

use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Ctx, JsResult, Members, Name, Thrown, Value};
use std::sync::LazyLock;

use crate::boxed::unbox;

static NAME: Name = Name::new("name");

/// Gives the VM `structuredClone`.
pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    static MEMBERS: LazyLock<Members> =
        LazyLock::new(|| Members::new().function(c"structuredClone", 1, structured_clone));
    ctx.global().define_members(&MEMBERS)
}

fn structured_clone<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    if call.is_empty() {
        return Err(ctx.throw_type("structuredClone needs an argument"));
    }
    let mut cloner = Cloner::new(ctx)?;
    let cloned = cloner.document(&call.argument(0))?;
    let options = call.argument(1);
    if options.is_object() {
        transfer(ctx, &options.get("transfer")?)?;
    }
    Ok(cloned)
}

/// Takes the buffers away from the caller: their bytes were copied before, which scripts can't tell.
fn transfer<'js>(ctx: Ctx<'js>, list: &Value<'js>) -> JsResult<'js, ()> {
    if list.is_nullish() {
        return Ok(());
    }
    for index in 0..list.length()? {
        let buffer = list.get_index(index)?;
        if !buffer.is_array_buffer() {
            return Err(refused(ctx, "only an ArrayBuffer can be transferred"));
        }
        buffer.get("transfer")?.call(&buffer, &[])?;
    }
    Ok(())
}

/// A `DataCloneError`.
fn refused(ctx: Ctx<'_>, message: &str) -> Thrown {
    let error = ctx.error(ErrorKind::Plain, message);
    match ctx.string("DataCloneError").and_then(|name| error.define_hidden(&NAME, name)) {
        Ok(()) => ctx.throw(error),
        Err(thrown) => thrown,
    }
}

/// Clones a graph of objects: each is made empty when it is first met, and filled when its turn comes. So cycles close,
/// and depth costs no native stack.
struct Cloner<'js> {
    ctx: Ctx<'js>,
    /// A `Map` from what was met to its clone, with its two functions.
    clones: Value<'js>,
    get: Value<'js>,
    set: Value<'js>,
    /// The clones that are still to be filled.
    waiting: Vec<(Value<'js>, Value<'js>, Filling)>,
}

/// The members that go from an object into its clone.
enum Filling {
    Properties,
    Map,
    Set,
    Error,
}

impl<'js> Cloner<'js> {
    fn new(ctx: Ctx<'js>) -> JsResult<'js, Self> {
        let clones = ctx.global().get("Map")?.construct(&[])?;
        let (get, set) = (clones.get("get")?, clones.get("set")?);
        Ok(Self { ctx, clones, get, set, waiting: Vec::new() })
    }

    fn document(&mut self, value: &Value<'js>) -> JsResult<'js> {
        let cloned = self.value(value)?;
        while let Some((from, to, filling)) = self.waiting.pop() {
            match filling {
                Filling::Properties => self.properties(&from, &to)?,
                Filling::Map => {
                    let (entries, set) = (self.list_of(&from)?, to.get("set")?);
                    for index in 0..entries.length()? {
                        let entry = entries.get_index(index)?;
                        let key = self.value(&entry.get_index(0)?)?;
                        let value = self.value(&entry.get_index(1)?)?;
                        set.call(&to, &[key, value])?;
                    }
                }
                Filling::Set => {
                    let (entries, add) = (self.list_of(&from)?, to.get("add")?);
                    for index in 0..entries.length()? {
                        let entry = self.value(&entries.get_index(index)?)?;
                        add.call(&to, &[entry])?;
                    }
                }
                Filling::Error => {
                    if from.has("cause")? {
                        let cause = self.value(&from.get("cause")?)?;
                        to.define_hidden("cause", cause)?;
                    }
                }
            }
        }
        Ok(cloned)
    }

    fn list_of(&self, iterable: &Value<'js>) -> JsResult<'js> {
        let array = self.ctx.global().get("Array")?;
        array.get("from")?.call(&array, std::slice::from_ref(iterable))
    }

    fn properties(&mut self, from: &Value<'js>, to: &Value<'js>) -> JsResult<'js, ()> {
        for key in from.keys()? {
            let value = self.value(&from.get(&key)?)?;
            to.define(&key, value)?;
        }
        Ok(())
    }

    /// The clone of a value, perhaps still empty.
    fn value(&mut self, value: &Value<'js>) -> JsResult<'js> {
        if value.is_symbol() {
            return Err(refused(self.ctx, "a symbol cannot be cloned"));
        }
        if !value.is_object() {
            return Ok(value.clone());
        }
        if value.is_function() {
            return Err(refused(self.ctx, "a function cannot be cloned"));
        }
        let known = self.get.call(&self.clones, std::slice::from_ref(value))?;
        if !known.is_undefined() {
            return Ok(known);
        }
        let (made, filling) = self.object(value)?;
        self.set.call(&self.clones, &[value.clone(), made.clone()])?;
        if let Some(filling) = filling {
            self.waiting.push((value.clone(), made.clone(), filling));
        }
        Ok(made)
    }

    fn object(&mut self, value: &Value<'js>) -> JsResult<'js, (Value<'js>, Option<Filling>)> {
        let ctx = self.ctx;
        let global = ctx.global();
        if value.is_array_like_proxy() {
            let array = ctx.array()?;
            array.set("length", ctx.number(f64::from(value.length()?)))?;
            return Ok((array, Some(Filling::Properties)));
        }
        if value.is_date() {
            return Ok((ctx.date(value.to_number()?)?, None));
        }
        if value.is_reg_exp() {
            let parts = [value.get("source")?, value.get("flags")?];
            return Ok((global.get("RegExp")?.construct(&parts)?, None));
        }
        if value.is_map() {
            return Ok((global.get("Map")?.construct(&[])?, Some(Filling::Map)));
        }
        if value.is_set() {
            return Ok((global.get("Set")?.construct(&[])?, Some(Filling::Set)));
        }
        if value.is_error() {
            return Ok((self.error(value)?, Some(Filling::Error)));
        }
        if value.is_promise() {
            return Err(refused(ctx, "a Promise cannot be cloned"));
        }
        if let Some(bytes) = value.is_array_buffer().then(|| value.bytes()) {
            let bytes = bytes.ok_or_else(|| refused(ctx, "the ArrayBuffer was detached"))?;
            return Ok((ctx.array_buffer(bytes.to_vec())?, None));
        }
        let class = value.is_data_view().then_some("DataView").or(value.typed_array_name());
        if let Some(class) = class {
            let length = if class == "DataView" { "byteLength" } else { "length" };
            let buffer = self.value(&value.get("buffer")?)?;
            let parts = [buffer, value.get("byteOffset")?, value.get(length)?];
            return Ok((global.get(class)?.construct(&parts)?, None));
        }
        if let Some(primitive) = unbox(value) {
            if primitive.is_symbol() {
                return Err(refused(ctx, "a symbol cannot be cloned"));
            }
            return Ok((global.get("Object")?.call(&ctx.undefined(), &[primitive])?, None));
        }
        Ok((ctx.object()?, Some(Filling::Properties)))
    }

    /// An error of the same standard class, with message and stack.
    fn error(&self, value: &Value<'js>) -> JsResult<'js> {
        const CLASSES: [&str; 6] =
            ["EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"];
        let name = value.get(&NAME)?.to_string_lossy()?;
        let class = CLASSES.into_iter().find(|class| *class == name).unwrap_or("Error");
        let error = self.ctx.global().get(class)?.construct(&[])?;
        for name in ["message", "stack"] {
            let text = value.get(name)?;
            if text.is_string() {
                error.define_hidden(name, text)?;
            }
        }
        Ok(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{all, vm};

    #[test]
    fn a_clone_has_everything_and_shares_nothing() {
        all(
            &vm(install),
            &[
                (
                    "const a = { x: [1, , 'b'], d: new Date(5), u: undefined }; a.self = a; const b = structuredClone(a); [b !== a, b.self === b, b.x !== a.x, b.x.length, 1 in b.x, b.d.getTime(), 'u' in b].join()",
                    "true,true,true,3,false,5,true",
                ),
                (
                    "const m = structuredClone(new Map([[{ k: 1 }, new Set([1, 'x'])]])); const [[k, v]] = [...m]; [k.k, v instanceof Set, v.size, v.has('x')].join()",
                    "1,true,2,true",
                ),
                ("const r = structuredClone(/a+/gi); `${r} ${r instanceof RegExp}`", "/a+/gi true"),
                (
                    "const buf = new ArrayBuffer(8); const o = structuredClone({ a: new Uint8Array(buf, 2, 3), b: buf, v: new DataView(buf, 1, 4), f: new Float64Array([1.5]) }); o.a[0] = 7; [o.a.buffer === o.b, o.a.length, o.a.byteOffset, o.v.getUint8(1), new Uint8Array(buf)[2], o.f[0], o.v.byteLength].join()",
                    "true,3,2,7,0,1.5,4",
                ),
                (
                    "const e = structuredClone(new TypeError('t', { cause: { c: 1 } })); [e instanceof TypeError, e.message, e.cause.c, typeof e.stack].join()",
                    "true,t,1,string",
                ),
                (
                    "[new Number(5), new String('s'), new Boolean(false), Object(5n)].map(v => structuredClone(v)).map(v => typeof v + v.valueOf()).join()",
                    "object5,objects,objectfalse,object5",
                ),
                (
                    "class P { x = 1; get y() { return 2 } } const p = structuredClone(new P()); [p.x, p.y, p instanceof P].join()",
                    "1,,false",
                ),
                (
                    "[1, 's', null, undefined, true, 5n].map(v => structuredClone(v) === v).join()",
                    "true,true,true,true,true,true",
                ),
                (
                    "const t = new ArrayBuffer(4); const c = structuredClone(t, { transfer: [t] }); [t.byteLength, c.byteLength].join()",
                    "0,4",
                ),
                (
                    "let d = {}; for (let i = 0; i < 20000; i++) d = { d }; typeof structuredClone(d)",
                    "object",
                ),
                (
                    "const s = { q: 1 }; const two = structuredClone([s, s]); two[0] === two[1]",
                    "true",
                ),
            ],
        );
    }

    #[test]
    fn what_cannot_be_cloned_is_a_data_clone_error() {
        all(
            &vm(install),
            &[
                (
                    "[() => 1, { f() {} }, Symbol(), [Symbol()], Object(Symbol()), Promise.resolve()].map(v => { try { structuredClone(v) } catch (e) { return e.name } }).join()",
                    "DataCloneError,DataCloneError,DataCloneError,DataCloneError,DataCloneError,DataCloneError",
                ),
                ("structuredClone()", "threw TypeError: structuredClone needs an argument"),
            ],
        );
    }
}
