//! Rust values as JavaScript objects.

mod table;

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::ctx::{Ctx, Inner};
use crate::error::{JsResult, Thrown};
use crate::function::Members;
use crate::name::{Key, Name};
use crate::value::Value;
use crate::{sys, touched};

pub(crate) use table::ClassTable;

/// A Rust type whose values scripts hold as objects.
///
/// The values must not keep JavaScript values alive (they cannot hold a [`Value`]; a [`crate::Root`] would leak
/// until the VM goes): what belongs to an object is a property of it.
pub trait Class: Sized + 'static {
    /// Its name in `Object.prototype.toString` and stack traces.
    const NAME: &'static CStr;

    /// Whether [`Class::own`] and [`Class::own_names`] are asked.
    const EXOTIC: bool = false;

    /// Methods and accessors of the prototype.
    fn members() -> &'static Members;

    /// An own property that is computed on demand, if it has one of this name. The object's real properties come first.
    ///
    /// # Errors
    /// The exception of computing it.
    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        let _ = (ctx, key);
        Ok(Own::None)
    }

    /// Whether the properties come and go: then [`Class::dynamic_names`], [`Class::assign`] and [`Class::remove`] are
    /// asked instead of [`Class::own_names`].
    const DYNAMIC: bool = false;

    /// The names of the properties there are now.
    fn dynamic_names(&self, ctx: Ctx<'_>) -> Vec<String> {
        let _ = ctx;
        Vec::new()
    }

    /// A property is assigned to.
    ///
    /// # Errors
    /// If its value is refused.
    fn assign<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>, value: &Value<'js>) -> JsResult<'js, ()> {
        let _ = (ctx, key, value);
        Ok(())
    }

    /// A property is deleted.
    ///
    /// # Errors
    /// If it must stay.
    fn remove<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, ()> {
        let _ = (ctx, key);
        Ok(())
    }

    /// The names of these properties, at most 32, in the order of enumeration.
    fn own_names(&self) -> &'static [&'static Name] {
        &[]
    }
}

/// A property computed on demand.
#[derive(Debug)]
pub enum Own<'js> {
    /// There is no such property.
    None,
    /// Its value, computed anew each time.
    Once(Value<'js>),
    /// Its value, which becomes a real property: computed once, and the same object ever after.
    Keep(Value<'js>),
    /// A method that goes on belonging to this object when a script takes it away; made anew each time.
    Bound(Value<'js>),
}

/// The value behind an object's opaque pointer.
struct Held<T> {
    value: T,
    /// Which of the computed properties, by index, were assigned to and are real ones now.
    assigned: Cell<u32>,
    /// Computed properties that are kept, by index; owned. Seen by the collector through `mark`.
    kept: RefCell<Vec<(usize, sys::JSValue)>>,
}

impl<T: Class> Held<T> {
    fn index(&self, inner: &Inner, atom: sys::JSAtom) -> Option<usize> {
        self.value.own_names().iter().position(|name| name.find(inner) == atom)
    }

    fn kept(&self, inner: &Inner, atom: sys::JSAtom) -> Option<sys::JSValue> {
        let kept = self.kept.borrow();
        if kept.is_empty() {
            return None;
        }
        let index = self.index(inner, atom)?;
        kept.iter().find(|(known, _)| *known == index).map(|&(_, value)| value)
    }

    fn keep(&self, inner: &Inner, atom: sys::JSAtom, value: &Value<'_>) {
        if value.ctx().inner.id == inner.id
            && let Some(index) = self.index(inner, atom)
        {
            self.kept.borrow_mut().push((index, value.clone().into_raw()));
        }
    }

    fn assign(&self, inner: &Inner, atom: sys::JSAtom) {
        if let Some(index) = self.index(inner, atom) {
            self.assigned.set(self.assigned.get() | bit(index));
        }
    }
}

/// The bit of a computed property among those assigned to; none from the 33rd on.
fn bit(index: usize) -> u32 {
    u32::try_from(index).ok().and_then(|index| 1u32.checked_shl(index)).unwrap_or(0)
}

impl<'js> Ctx<'js> {
    fn class_id<T: Class>(self) -> Result<sys::JSClassID, Thrown> {
        if let Some(id) = self.inner.classes.find::<T>() {
            return Ok(id);
        }
        let def = sys::JSClassDef {
            class_name: T::NAME.as_ptr(),
            finalizer: Some(finalize::<T>),
            gc_mark: Some(mark::<T>),
            call: None,
            exotic: if T::EXOTIC { ptr::from_ref(exotic_methods::<T>()) } else { ptr::null() },
        };
        let mut id = 0;
        // SAFETY: the runtime is alive; the definition is copied by the engine but for name and exotic methods, which
        // are static.
        unsafe {
            sys::JS_NewClassID(self.inner.rt.as_ptr(), &raw mut id);
            if sys::JS_NewClass(self.inner.rt.as_ptr(), id, &raw const def) != 0 {
                return Err(Thrown(()));
            }
        }
        self.inner.classes.known.borrow_mut().push((TypeId::of::<T>(), id));
        let prototype = self.object()?;
        prototype.define_members(T::members())?;
        // SAFETY: the prototype is given to the engine.
        unsafe { sys::JS_SetClassProto(self.raw(), id, prototype.into_raw()) };
        // The engine drops an object shape that no object has, and a VU often holds no object of the class between two
        // iterations: an empty one that stays keeps the shape.
        // SAFETY: the class is registered; without an opaque the finalizer has nothing to free.
        let keeper = unsafe { Value::returned(self, sys::JS_NewObjectClass(self.raw(), id))? };
        self.inner.classes.keepers.borrow_mut().push(keeper.into_raw());
        Ok(id)
    }

    /// An object that owns `value`.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn instance<T: Class>(self, value: T) -> JsResult<'js> {
        let id = self.class_id::<T>()?;
        let held = Box::new(Held { value, assigned: Cell::new(0), kept: RefCell::default() });
        // SAFETY: the class is registered; the box is freed by its finalizer.
        unsafe {
            let object = Value::returned(self, sys::JS_NewObjectClass(self.raw(), id))?;
            sys::JS_SetOpaque(object.raw, Box::into_raw(held).cast::<c_void>());
            sys::brunt_account(self.inner.rt.as_ptr(), 0, size_of::<Held<T>>());
            Ok(object)
        }
    }

    /// The prototype of `T`'s objects.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn class_prototype<T: Class>(self) -> JsResult<'js> {
        let id = self.class_id::<T>()?;
        // SAFETY: the class is registered; the result is ours.
        unsafe { Value::returned(self, sys::JS_GetClassProto(self.raw(), id)) }
    }
}

impl Value<'_> {
    /// The Rust value inside, if the object is one of `T`'s.
    pub fn instance<T: Class>(&self) -> Option<&T> {
        if !self.is_object() {
            return None;
        }
        let id = self.ctx().inner.classes.find::<T>()?;
        // SAFETY: an object of class `id` holds a boxed `T` or, before `SetOpaque`, nothing. The box lives as long as the
        // object, which this value keeps alive.
        unsafe {
            let held = sys::JS_GetOpaque(self.raw, id).cast::<Held<T>>().as_ref()?;
            touched::note(held);
            Some(&held.value)
        }
    }

    /// Whether a script assigned to a computed property (one of [`Class::own_names`]) of one of `T`'s objects.
    pub fn is_assigned<T: Class>(&self, name: &'static Name) -> bool {
        let Some(value) = self.instance::<T>() else { return false };
        let mut names = value.own_names().iter();
        let index = names.position(|&known| std::ptr::eq(known, name));
        let id = self.ctx().inner.classes.find::<T>();
        let (Some(index), Some(id)) = (index, id) else { return false };
        // SAFETY: as in `instance`.
        let held = unsafe { sys::JS_GetOpaque(self.raw, id).cast::<Held<T>>().as_ref() };
        held.is_some_and(|held| held.assigned.get() & bit(index) != 0)
    }
}

unsafe extern "C" fn mark<T: Class>(
    rt: *mut sys::JSRuntime,
    object: sys::JSValue,
    visit: sys::JSMarkFunc,
) {
    // SAFETY: the collector calls this with an object of the class; the kept values are alive.
    unsafe {
        if let Some(held) = opaque::<T>(object) {
            // Nothing else runs during a collection, so the list is never borrowed here.
            for &(_, value) in held.kept.borrow().iter() {
                sys::JS_MarkValue(rt, value, visit);
            }
        }
    }
}

unsafe extern "C" fn finalize<T: Class>(rt: *mut sys::JSRuntime, object: sys::JSValue) {
    let mut id = 0;
    // SAFETY: the engine calls the finalizer of this class once for each object; its opaque is a boxed `T` or null.
    let value = unsafe { sys::JS_GetAnyOpaque(object, &raw mut id) }.cast::<Held<T>>();
    if !value.is_null() {
        // SAFETY: as above: the box is ours now; it was counted when it was given to the engine.
        let held = unsafe {
            sys::brunt_account(rt, size_of::<Held<T>>(), 0);
            Box::from_raw(value)
        };
        for (_, kept) in held.kept.take() {
            // SAFETY: the list owned the reference.
            unsafe { sys::JS_FreeValueRT(rt, kept) };
        }
        // SAFETY: the runtime is that of a VM.
        unsafe { Inner::freeing(rt, || drop(held)) };
    }
}

fn exotic_methods<T: Class>() -> &'static sys::JSClassExoticMethods {
    const {
        &sys::JSClassExoticMethods {
            get_own_property: Some(own_property::<T>),
            get_own_property_names: Some(own_property_names::<T>),
            delete_property: if T::DYNAMIC { Some(delete_property::<T>) } else { None },
            define_own_property: None,
            has_property: None,
            get_property: None,
            set_property: Some(set_property::<T>),
        }
    }
}

/// # Safety
/// `object` is of class `T` and lent.
unsafe fn opaque<'a, T: Class>(object: sys::JSValue) -> Option<&'a Held<T>> {
    let mut id = 0;
    // SAFETY: as in `finalize`.
    unsafe { sys::JS_GetAnyOpaque(object, &raw mut id).cast::<Held<T>>().as_ref() }
}

unsafe extern "C" fn own_property<T: Class>(
    ctx: *mut sys::JSContext,
    descriptor: *mut sys::JSPropertyDescriptor,
    object: sys::JSValue,
    atom: sys::JSAtom,
) -> c_int {
    // SAFETY: the engine lends context, object and atom. Not every caller in it keeps the object alive while `own` runs
    // JavaScript: this duplicate does.
    let (ctx, key, this, value) = unsafe {
        let ctx = Ctx::from_raw(ctx);
        // The engine holds the atom during the call: no reference of our own is needed.
        let key = std::mem::ManuallyDrop::new(Key { atom, ctx });
        (ctx, key, Value::borrowed(ctx, object), opaque::<T>(object))
    };
    let Some(value) = value else { return 0 };
    if let Some(kept) = value.kept(ctx.inner, atom) {
        if !descriptor.is_null() {
            // SAFETY: a non-null descriptor is the engine's to be filled, with a reference of its own.
            unsafe {
                *descriptor = sys::JSPropertyDescriptor {
                    flags: sys::PROP_C_W_E,
                    value: sys::JS_DupValue(ctx.raw(), kept),
                    getter: sys::UNDEFINED,
                    setter: sys::UNDEFINED,
                };
            }
        }
        return 1;
    }
    match catch_unwind(AssertUnwindSafe(|| value.value.own(ctx, &key))) {
        Ok(Ok(Own::None)) => 0,
        Ok(Ok(own)) => {
            let property = match own {
                Own::Keep(property) => {
                    value.keep(ctx.inner, atom, &property);
                    property
                }
                Own::Once(property) => property,
                Own::Bound(method) => match bound(&method, &this) {
                    Ok(property) => property,
                    Err(Thrown(())) => return -1,
                },
                Own::None => return 0,
            };
            if property.ctx().inner.id != ctx.inner.id {
                let _ = ctx.throw_uncatchable("a property is a value of another VM");
                return -1;
            }
            if !descriptor.is_null() {
                // SAFETY: a non-null descriptor is the engine's to be filled; the reference becomes the engine's.
                unsafe {
                    *descriptor = sys::JSPropertyDescriptor {
                        flags: sys::PROP_C_W_E,
                        value: property.into_raw(),
                        getter: sys::UNDEFINED,
                        setter: sys::UNDEFINED,
                    };
                }
            }
            1
        }
        Ok(Err(Thrown(()))) => -1,
        Err(payload) => {
            ctx.inner.panic.set(Some(payload));
            let _ = ctx.throw_uncatchable("a native function panicked");
            -1
        }
    }
}

/// `method.bind(this)`.
fn bound<'js>(method: &Value<'js>, this: &Value<'js>) -> JsResult<'js> {
    method.get("bind")?.call(method, std::slice::from_ref(this))
}

unsafe extern "C" fn own_property_names<T: Class>(
    ctx: *mut sys::JSContext,
    table: *mut *mut sys::JSPropertyEnum,
    length: *mut u32,
    object: sys::JSValue,
) -> c_int {
    // SAFETY: the engine lends context and object; `table` and `length` are its to be filled with a list that it frees
    // with `js_free`, atoms included.
    unsafe {
        let js = Ctx::from_raw(ctx);
        if T::DYNAMIC {
            return dynamic_property_names::<T>(js, table, length, object);
        }
        let held = opaque::<T>(object);
        let names = held.map_or(&[][..], |held| held.value.own_names());
        let assigned = held.map_or(0, |held| held.assigned.get());
        let bytes = size_of::<sys::JSPropertyEnum>() * names.len().max(1);
        let list = sys::js_malloc(ctx, bytes).cast::<sys::JSPropertyEnum>();
        if list.is_null() {
            return -1;
        }
        let mut count = 0;
        let computed = names.iter().enumerate().filter(|(index, _)| assigned & bit(*index) == 0);
        for (_, name) in computed {
            let Ok(atom) = name.atom(js) else { continue };
            let atom = sys::JS_DupAtom(ctx, atom);
            list.add(count).write(sys::JSPropertyEnum { is_enumerable: true, atom });
            count += 1;
        }
        *table = list;
        *length = u32::try_from(count).expect("a handful of names");
    }
    0
}

/// Assigning to a property makes a real one, which from then on hides the computed one. Without this the engine would
/// define it with the attributes that an assignment does not name: read-only and hidden.
unsafe extern "C" fn set_property<T: Class>(
    ctx: *mut sys::JSContext,
    object: sys::JSValue,
    atom: sys::JSAtom,
    value: sys::JSValue,
    receiver: sys::JSValue,
    _flags: c_int,
) -> c_int {
    if T::DYNAMIC {
        // SAFETY: the engine lends context, object, atom and value.
        let (ctx, key, value, held) = unsafe {
            let ctx = Ctx::from_raw(ctx);
            (ctx, Key::borrowed(ctx, atom), Value::borrowed(ctx, value), opaque::<T>(object))
        };
        let Some(held) = held else { return 0 };
        return guarded(ctx, || held.value.assign(ctx, &key, &value));
    }
    // SAFETY: the engine lends context, objects, atom and value; the duplicate is given to the engine.
    unsafe {
        // An assignment to an object that inherits from this one makes a property there.
        let to_itself = receiver.tag == sys::TAG_OBJECT && receiver.u.ptr == object.u.ptr;
        if to_itself && let Some(held) = opaque::<T>(object) {
            held.assign(Ctx::from_raw(ctx).inner, atom);
        }
        let value = sys::JS_DupValue(ctx, value);
        sys::JS_DefinePropertyValue(ctx, receiver, atom, value, sys::PROP_C_W_E)
    }
}

unsafe extern "C" fn delete_property<T: Class>(
    ctx: *mut sys::JSContext,
    object: sys::JSValue,
    atom: sys::JSAtom,
) -> c_int {
    // SAFETY: the engine lends context, object and atom.
    let (ctx, key, held) = unsafe {
        let ctx = Ctx::from_raw(ctx);
        (ctx, Key::borrowed(ctx, atom), opaque::<T>(object))
    };
    let Some(held) = held else { return 1 };
    guarded(ctx, || held.value.remove(ctx, &key))
}

/// # Safety
/// As `own_property_names`.
unsafe fn dynamic_property_names<T: Class>(
    ctx: Ctx<'_>,
    table: *mut *mut sys::JSPropertyEnum,
    length: *mut u32,
    object: sys::JSValue,
) -> c_int {
    // SAFETY: as promised by the caller; the list has room for all names, and owns its atoms.
    unsafe {
        let names =
            opaque::<T>(object).map(|held| held.value.dynamic_names(ctx)).unwrap_or_default();
        let bytes = size_of::<sys::JSPropertyEnum>() * names.len().max(1);
        let list = sys::js_malloc(ctx.raw(), bytes).cast::<sys::JSPropertyEnum>();
        if list.is_null() {
            return -1;
        }
        for (index, name) in names.iter().enumerate() {
            let atom = sys::JS_NewAtomLen(ctx.raw(), name.as_ptr().cast(), name.len());
            list.add(index).write(sys::JSPropertyEnum { is_enumerable: true, atom });
        }
        *table = list;
        *length = u32::try_from(names.len()).expect("fewer than four billion names");
    }
    0
}

/// Runs a callback of a class for the engine: 1 for done, -1 for thrown.
fn guarded(ctx: Ctx<'_>, run: impl FnOnce() -> Result<(), Thrown>) -> c_int {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => 1,
        Ok(Err(Thrown(()))) => -1,
        Err(payload) => {
            ctx.inner.panic.set(Some(payload));
            let _ = ctx.throw_uncatchable("a native function panicked");
            -1
        }
    }
}
