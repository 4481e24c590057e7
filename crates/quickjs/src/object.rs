//! Objects, arrays, properties, calls.

use std::ptr;

use crate::ctx::Ctx;
use crate::error::{JsResult, Thrown, check};
use crate::name::{Key, Name, PropertyKey};
use crate::sys;
use crate::value::Value;

impl<'js> Ctx<'js> {
    /// The global object.
    pub fn global(self) -> Value<'js> {
        // SAFETY: the context is alive; the result is ours.
        unsafe { Value::owned(self, sys::JS_GetGlobalObject(self.raw())) }
    }

    /// `{}`.
    ///
    /// # Errors
    /// If there is no memory; so for all makers of objects here.
    pub fn object(self) -> JsResult<'js> {
        // SAFETY: the context is alive; the result is ours.
        unsafe { Value::returned(self, sys::JS_NewObject(self.raw())) }
    }

    /// An object with this prototype.
    ///
    /// # Errors
    /// As [`Ctx::object`].
    pub fn object_with_prototype(self, prototype: &Value<'js>) -> JsResult<'js> {
        // SAFETY: the prototype is alive and of this context; the result is ours.
        unsafe {
            Value::returned(self, sys::JS_NewObjectProto(self.raw(), prototype.raw_for(self)))
        }
    }

    /// An object with these properties, in this order, whatever setters `Object.prototype` has.
    ///
    /// # Errors
    /// As [`Ctx::object`].
    ///
    /// # Panics
    /// If two names are the same.
    pub fn object_from<const N: usize>(
        self,
        properties: [(&Name, Value<'js>); N],
    ) -> JsResult<'js> {
        let mut atoms = [0; N];
        for (index, (name, value)) in properties.iter().enumerate() {
            atoms[index] = name.atom(self)?;
            let new = !atoms[..index].contains(&atoms[index]);
            assert!(new, "the properties of an object have different names");
            assert!(
                value.ctx().inner.id == self.inner.id,
                "a value is used in the VM that it came from"
            );
        }
        let values = properties.map(|(_, value)| value.into_raw());
        let count = i32::try_from(N).expect("a handful of properties");
        // SAFETY: both arrays have `count` entries; the values are given to the engine, the atoms are lent and differ.
        unsafe {
            Value::returned(
                self,
                sys::brunt_object_from(self.raw(), count, atoms.as_ptr(), values.as_ptr()),
            )
        }
    }

    /// `[]`.
    ///
    /// # Errors
    /// As [`Ctx::object`].
    pub fn array(self) -> JsResult<'js> {
        // SAFETY: the context is alive; the result is ours.
        unsafe { Value::returned(self, sys::JS_NewArray(self.raw())) }
    }

    /// An array of these.
    ///
    /// # Errors
    /// As [`Ctx::object`].
    pub fn array_from(self, values: impl IntoIterator<Item = Value<'js>>) -> JsResult<'js> {
        let array = self.array()?;
        for (index, value) in values.into_iter().enumerate() {
            array.set_index(
                u32::try_from(index).expect("fewer than four billion elements"),
                value,
            )?;
        }
        Ok(array)
    }

    /// An array of these bytes, each a number. A long one is made in slices: the interrupt handler is asked before.
    ///
    /// # Errors
    /// As [`Ctx::object`]; the handler stops what runs.
    pub fn array_of_bytes(self, bytes: &[u8]) -> JsResult<'js> {
        /// Bytes whose numbers fit a page.
        const FEW: usize = 256;
        if bytes.is_empty() {
            return self.array();
        }
        let number = |byte: &u8| sys::value(sys::TAG_INT, i32::from(*byte));
        let count = i32::try_from(bytes.len()).map_err(|_| self.throw_memory())?;
        self.poll(count / 8)?;
        let (mut few, mut many) = ([sys::UNDEFINED; FEW], Vec::new());
        let values: &[sys::JSValue] = if bytes.len() <= FEW {
            few.iter_mut().zip(bytes).for_each(|(place, byte)| *place = number(byte));
            &few
        } else {
            self.may_take(2 * size_of_val(bytes) * size_of::<sys::JSValue>())?;
            many.extend(bytes.iter().map(number));
            &many
        };
        // SAFETY: the list has `count` values at least, which are numbers and own nothing; the engine copies them. The result is ours.
        unsafe { Value::returned(self, sys::JS_NewArrayFrom(self.raw(), count, values.as_ptr())) }
    }

    /// A `Date` at this time (ms since the Unix epoch).
    ///
    /// # Errors
    /// As [`Ctx::object`].
    pub fn date(self, epoch_ms: f64) -> JsResult<'js> {
        self.need(sys::GROUP_DATE)?;
        // SAFETY: the context is alive; the result is ours.
        unsafe { Value::returned(self, sys::JS_NewDate(self.raw(), epoch_ms)) }
    }

    /// `new Proxy(target, handler)`.
    ///
    /// # Errors
    /// If either is not an object.
    pub fn proxy(self, target: &Value<'js>, handler: &Value<'js>) -> JsResult<'js> {
        self.need(sys::GROUP_PROXY)?;
        // SAFETY: both are alive and of this context; the result is ours.
        unsafe {
            Value::returned(
                self,
                sys::JS_NewProxy(self.raw(), target.raw_for(self), handler.raw_for(self)),
            )
        }
    }

    /// A fresh symbol.
    ///
    /// # Errors
    /// As [`Ctx::object`].
    pub fn symbol(self, description: &std::ffi::CStr) -> JsResult<'js> {
        // SAFETY: the description lives through the call; the result is ours.
        unsafe { Value::returned(self, sys::JS_NewSymbol(self.raw(), description.as_ptr(), false)) }
    }
}

impl<'js> Value<'js> {
    /// `value[key]`: may run getters and proxies. `undefined` if there is none.
    ///
    /// # Errors
    /// The exception of a getter, or a `TypeError` for `null` and `undefined`.
    pub fn get(&self, key: impl PropertyKey) -> JsResult<'js> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        key.with_atom(ctx, |atom| {
            // SAFETY: value and atom are alive and of this context; the result is ours.
            unsafe { Value::returned(ctx, sys::JS_GetProperty(ctx.raw(), self.raw, atom.0)) }
        })
    }

    /// `value[index]`.
    ///
    /// # Errors
    /// As [`Value::get`].
    pub fn get_index(&self, index: u32) -> JsResult<'js> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        // SAFETY: the value is alive and of this context; the result is ours.
        unsafe { Value::returned(ctx, sys::JS_GetPropertyUint32(ctx.raw(), self.raw, index)) }
    }

    /// `value[key] = to`: may run setters and proxies.
    ///
    /// # Errors
    /// The exception of a setter.
    pub fn set(&self, key: impl PropertyKey, to: Value<'js>) -> Result<(), Thrown> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        key.with_atom(ctx, |atom| {
            let to = take(ctx, to);
            // SAFETY: value and atom are alive and of this context; `to` is given to the engine.
            check(unsafe { sys::JS_SetProperty(ctx.raw(), self.raw, atom.0, to) })
        })
    }

    /// `value[index] = to`.
    ///
    /// # Errors
    /// As [`Value::set`].
    pub fn set_index(&self, index: u32, to: Value<'js>) -> Result<(), Thrown> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        let to = take(ctx, to);
        // SAFETY: the value is alive and of this context; `to` is given to the engine.
        check(unsafe { sys::JS_SetPropertyUint32(ctx.raw(), self.raw, index, to) })
    }

    /// Defines an own property that is writable, configurable and enumerable, whatever the prototypes say.
    ///
    /// # Errors
    /// If the object is frozen.
    pub fn define(&self, key: impl PropertyKey, to: Value<'js>) -> Result<(), Thrown> {
        self.define_with(key, to, sys::PROP_C_W_E)
    }

    /// Defines an own property that enumeration does not show.
    ///
    /// # Errors
    /// As [`Value::define`].
    pub fn define_hidden(&self, key: impl PropertyKey, to: Value<'js>) -> Result<(), Thrown> {
        self.define_with(key, to, sys::PROP_CONFIGURABLE | sys::PROP_WRITABLE)
    }

    /// Defines an own property that can only be read.
    ///
    /// # Errors
    /// As [`Value::define`].
    pub fn define_read_only(&self, key: impl PropertyKey, to: Value<'js>) -> Result<(), Thrown> {
        self.define_with(key, to, sys::PROP_ENUMERABLE)
    }

    fn define_with(&self, key: impl PropertyKey, to: Value<'js>, flags: i32) -> Result<(), Thrown> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        key.with_atom(ctx, |atom| {
            let to = take(ctx, to);
            // SAFETY: value and atom are alive and of this context; `to` is given to the engine.
            check(unsafe { sys::JS_DefinePropertyValue(ctx.raw(), self.raw, atom.0, to, flags) })
        })
    }

    /// Defines an own property with a getter and perhaps a setter.
    ///
    /// # Errors
    /// As [`Value::define`].
    pub fn define_accessor(
        &self,
        key: impl PropertyKey,
        getter: Value<'js>,
        setter: Option<Value<'js>>,
    ) -> Result<(), Thrown> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        let flags = sys::PROP_CONFIGURABLE | sys::PROP_ENUMERABLE;
        key.with_atom(ctx, |atom| {
            let getter = take(ctx, getter);
            let setter = setter.map_or(sys::UNDEFINED, |setter| take(ctx, setter));
            // SAFETY: value and atom are alive and of this context; both functions are given to the engine.
            check(unsafe {
                sys::JS_DefinePropertyGetSet(ctx.raw(), self.raw, atom.0, getter, setter, flags)
            })
        })
    }

    /// `key in value`.
    ///
    /// # Errors
    /// The exception of a proxy.
    pub fn has(&self, key: impl PropertyKey) -> Result<bool, Thrown> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        key.with_atom(ctx, |atom| {
            // SAFETY: value and atom are alive and of this context.
            match unsafe { sys::JS_HasProperty(ctx.raw(), self.raw, atom.0) } {
                result if result < 0 => Err(Thrown(())),
                result => Ok(result > 0),
            }
        })
    }

    /// `delete value[key]`.
    ///
    /// # Errors
    /// The exception of a proxy.
    pub fn delete(&self, key: impl PropertyKey) -> Result<(), Thrown> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        key.with_atom(ctx, |atom| {
            // SAFETY: value and atom are alive and of this context.
            check(unsafe { sys::JS_DeleteProperty(ctx.raw(), self.raw, atom.0, 0) })
        })
    }

    /// The own enumerable string keys, in the order of `Object.keys`. Empty for what is not an object.
    ///
    /// # Errors
    /// The exception of a proxy.
    pub fn keys(&self) -> Result<Vec<Key<'js>>, Thrown> {
        if !self.is_object() {
            return Ok(Vec::new());
        }
        let ctx = self.ctx();
        let _inside = ctx.enter();
        let (mut table, mut length) = (ptr::null_mut(), 0);
        let flags = sys::GPN_STRING_MASK | sys::GPN_ENUM_ONLY;
        // SAFETY: the value is alive and of this context. On success the engine hands out a table of `length` entries,
        // whose atoms are duplicated before the table and its own references are freed.
        unsafe {
            check(sys::JS_GetOwnPropertyNames(
                ctx.raw(),
                &raw mut table,
                &raw mut length,
                self.raw,
                flags,
            ))?;
            let keys = (0..length as usize)
                .map(|index| Key::borrowed(ctx, (*table.add(index)).atom))
                .collect();
            sys::JS_FreePropertyEnum(ctx.raw(), table, length);
            Ok(keys)
        }
    }

    /// `value.length` of an array-like.
    ///
    /// # Errors
    /// The exception of a getter.
    pub fn length(&self) -> Result<u32, Thrown> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        let mut length = 0;
        // SAFETY: the value is alive and of this context.
        check(unsafe { sys::JS_GetLength(ctx.raw(), self.raw, &raw mut length) })?;
        Ok(u32::try_from(length).unwrap_or(u32::MAX))
    }

    /// `Object.getPrototypeOf(value)`.
    ///
    /// # Errors
    /// The exception of a proxy.
    pub fn prototype(&self) -> JsResult<'js> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        // SAFETY: the value is alive and of this context; the result is ours.
        unsafe { Value::returned(ctx, sys::JS_GetPrototype(ctx.raw(), self.raw)) }
    }

    /// `Object.setPrototypeOf(value, prototype)`.
    ///
    /// # Errors
    /// If the object cannot be extended.
    pub fn set_prototype(&self, prototype: &Value<'js>) -> Result<(), Thrown> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        // SAFETY: both are alive and of this context.
        check(unsafe { sys::JS_SetPrototype(ctx.raw(), self.raw, prototype.raw_for(ctx)) })
    }

    /// `Object.freeze(value)`.
    ///
    /// # Errors
    /// The exception of a proxy.
    pub fn freeze(&self) -> Result<(), Thrown> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        // SAFETY: the value is alive and of this context.
        check(unsafe { sys::JS_FreezeObject(ctx.raw(), self.raw) })
    }

    /// Freezes a value that [`Ctx::parse_json`] made, and all in it.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn freeze_json(&self) -> Result<(), Thrown> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        // SAFETY: the value is alive and of this context. No script runs: what JSON makes has no traps.
        check(unsafe { sys::brunt_freeze_json(ctx.raw(), self.raw) })
    }

    /// `value instanceof class`.
    ///
    /// # Errors
    /// The exception of `Symbol.hasInstance`.
    pub fn instance_of(&self, class: &Value<'js>) -> Result<bool, Thrown> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        // SAFETY: both are alive and of this context.
        match unsafe { sys::JS_IsInstanceOf(ctx.raw(), self.raw, class.raw_for(ctx)) } {
            result if result < 0 => Err(Thrown(())),
            result => Ok(result > 0),
        }
    }

    /// Calls it.
    ///
    /// # Errors
    /// The exception of the function.
    pub fn call(&self, this: &Value<'js>, arguments: &[Value<'js>]) -> JsResult<'js> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        with_raw(ctx, arguments, |count, raw| {
            // SAFETY: function, `this` and the arguments are alive and of this context; the engine borrows them.
            unsafe {
                Value::returned(
                    ctx,
                    sys::JS_Call(ctx.raw(), self.raw, this.raw_for(ctx), count, raw),
                )
            }
        })
    }

    /// Calls it as a constructor.
    ///
    /// # Errors
    /// The exception of the constructor.
    pub fn construct(&self, arguments: &[Value<'js>]) -> JsResult<'js> {
        let ctx = self.ctx();
        let _inside = ctx.enter();
        with_raw(ctx, arguments, |count, raw| {
            // SAFETY: as in `call`.
            unsafe {
                Value::returned(ctx, sys::JS_CallConstructor(ctx.raw(), self.raw, count, raw))
            }
        })
    }
}

fn with_raw<R>(
    ctx: Ctx<'_>,
    values: &[Value<'_>],
    use_raw: impl FnOnce(i32, *mut sys::JSValue) -> R,
) -> R {
    let count = i32::try_from(values.len()).expect("fewer than two billion arguments");
    if values.len() <= 8 {
        let mut raw = [sys::UNDEFINED; 8];
        for (slot, value) in raw.iter_mut().zip(values) {
            *slot = value.raw_for(ctx);
        }
        use_raw(count, raw.as_mut_ptr())
    } else {
        let mut raw: Vec<_> = values.iter().map(|value| value.raw_for(ctx)).collect();
        use_raw(count, raw.as_mut_ptr())
    }
}

fn take(ctx: Ctx<'_>, value: Value<'_>) -> sys::JSValue {
    assert!(value.ctx().inner.id == ctx.inner.id, "a value is used in the VM that it came from");
    value.into_raw()
}
