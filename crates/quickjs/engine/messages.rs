//! What is changed in the engine so that exceptions say what they say in k6: scripts print them and tests compare them.
//!
//! A call of what is not there says which member it is. Reading a method that an object does not have is rare (it is an
//! error in the next moment, but for `a.b?.()`), so it is noted there and costs nothing where the method is found.

use super::adjustments::Adjustment;

macro_rules! adjusted {
    ($($times:literal $find:expr => $put:expr;)*) => {
        &[$(Adjustment { file: "quickjs.c", find: $find, put: $put, times: $times }),*]
    };
}

pub(crate) use adjusted;

/// To be made after those of the other lists, on whose text some of them stand.
pub(crate) const MESSAGES: &[Adjustment] = adjusted![
    1 "struct JSRuntime {\n    JSMallocFunctions mf;\n    int brunt_scope;\n" => "struct JSRuntime {\n    JSMallocFunctions mf;\n    int brunt_scope;\n    \
       /* the method that was last read and not there, and where on the stack it should be */\n    \
       JSAtom brunt_missing;\n    void *brunt_missing_frame;\n    void *brunt_missing_slot;\n";
    1 "    rt->in_free = true;\n    JS_FreeValueRT(rt, rt->current_exception);\n" =>
      "    rt->in_free = true;\n    JS_FreeAtomRT(rt, rt->brunt_missing);\n    JS_FreeValueRT(rt, rt->current_exception);\n";
    1 "static JSValue JS_ThrowTypeErrorNotAnObject(JSContext *ctx)\n{" => r#"/* What is called, or made with `new`, is no function. Objects are shown as their script shows them. */
static JSValue brunt_throw_uncallable(JSContext *ctx, JSValueConst val)
{
    const char *text = JS_ToCString(ctx, val);
    if (!text) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        return JS_ThrowTypeErrorNotAFunction(ctx);
    }
    JS_ThrowTypeError(ctx, JS_IsObject(val) ? "Not a function: %s" : "Value is not an object: %s", text);
    JS_FreeCString(ctx, text);
    return JS_EXCEPTION;
}

/* Notes that the method which belongs into this place of the stack is not there. */
static no_inline void brunt_note_missing(JSContext *ctx, void *slot, JSAtom atom)
{
    JSRuntime *rt = ctx->rt;
    JS_FreeAtom(ctx, rt->brunt_missing);
    rt->brunt_missing = JS_DupAtom(ctx, atom);
    rt->brunt_missing_frame = rt->current_stack_frame;
    rt->brunt_missing_slot = slot;
}

/* The same, of a method whose name was computed. */
static no_inline void brunt_note_missing_value(JSContext *ctx, void *slot, JSValueConst name)
{
    JSAtom atom = JS_ValueToAtom(ctx, name);
    if (atom == JS_ATOM_NULL) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        return;
    }
    brunt_note_missing(ctx, slot, atom);
    JS_FreeAtom(ctx, atom);
}

static JSValue JS_ThrowTypeErrorNotAnObject(JSContext *ctx)
{"#;
    1 "        not_a_function:\n            return JS_ThrowTypeErrorNotAFunction(caller_ctx);\n" =>
      r#"        not_a_function:
            {
                JSStackFrame *brunt_sf = rt->current_stack_frame;
                if (JS_IsUndefined(func_obj) && rt->brunt_missing != JS_ATOM_NULL &&
                    rt->brunt_missing_frame == brunt_sf && brunt_sf && brunt_sf->cur_pc &&
                    rt->brunt_missing_slot == (void *)((JSValue *)argv - 1) &&
                    (brunt_sf->cur_pc[-3] == OP_call_method || brunt_sf->cur_pc[-3] == OP_tail_call_method))
                    return JS_ThrowTypeErrorAtom(caller_ctx, "Object has no member '%s'", rt->brunt_missing);
            }
            return brunt_throw_uncallable(caller_ctx, func_obj);
"#;
    1 "        not_a_function:\n            return JS_ThrowTypeErrorNotAFunction(ctx);\n" =>
      "        not_a_function:\n            return brunt_throw_uncallable(ctx, func_obj);\n";
    1 "        return 0;\n    JS_ThrowTypeErrorNotAFunction(ctx);\n    return -1;\n" =>
      "        return 0;\n    brunt_throw_uncallable(ctx, obj);\n    return -1;\n";
    1 r"                                goto get_field2_slow_path;
                            val = js_dup(pr->u.value);
                            break;
                        }
                        if (unlikely(p->is_exotic)) {
                            /* XXX: should avoid the slow path for arrays
                               and typed arrays by ensuring that 'prop' is
                               not numeric */
                            obj = JS_MKPTR(JS_TAG_OBJECT, p);
                            goto get_field2_slow_path;
                        }
                        p = p->shape->proto;
                        if (!p) {
                            val = JS_UNDEFINED;
" => r"                                goto get_field2_slow_path;
                            val = js_dup(pr->u.value);
                            break;
                        }
                        if (unlikely(p->is_exotic)) {
                            /* XXX: should avoid the slow path for arrays
                               and typed arrays by ensuring that 'prop' is
                               not numeric */
                            obj = JS_MKPTR(JS_TAG_OBJECT, p);
                            goto get_field2_slow_path;
                        }
                        p = p->shape->proto;
                        if (!p) {
                            brunt_note_missing(ctx, sp, atom);
                            val = JS_UNDEFINED;
";
    1 r"                get_field2_slow_path:
                    sf->cur_pc = pc;
                    val = JS_GetPropertyInternal(ctx, obj, atom, sp[-1], false);
                    if (unlikely(JS_IsException(val)))
                        goto exception;
" => r#"                get_field2_slow_path:
                    sf->cur_pc = pc;
                    if (unlikely(JS_IsUndefined(obj) || JS_IsNull(obj))) {
                        /* `x.n++` reads like `x.n()`. */
                        JS_ThrowTypeErrorAtom(ctx, *pc == OP_inc || *pc == OP_dec || *pc == OP_post_inc || *pc == OP_post_dec
                            ? "Cannot read property '%s' of undefined" : "Cannot read property '%s' of undefined or null", atom);
                        goto exception;
                    }
                    val = JS_GetPropertyInternal(ctx, obj, atom, sp[-1], false);
                    if (unlikely(JS_IsException(val)))
                        goto exception;
                    if (unlikely(JS_IsUndefined(val)))
                        brunt_note_missing(ctx, sp, atom);
"#;
    1 r"                sf->cur_pc = pc;
                val = JS_GetPropertyValue(ctx, sp[-2], sp[-1]);
                sp[-1] = val;
                if (unlikely(JS_IsException(val)))
                    goto exception;
" => r"                sf->cur_pc = pc;
                JSValue brunt_name = JS_IsString(sp[-1]) || JS_VALUE_GET_TAG(sp[-1]) == JS_TAG_INT ? js_dup(sp[-1]) : JS_UNDEFINED;
                val = JS_GetPropertyValue(ctx, sp[-2], sp[-1]);
                sp[-1] = val;
                if (unlikely(JS_IsUndefined(val)) && !JS_IsUndefined(brunt_name))
                    brunt_note_missing_value(ctx, sp - 1, brunt_name);
                JS_FreeValue(ctx, brunt_name);
                if (unlikely(JS_IsException(val)))
                    goto exception;
";
    2 "\"cannot read property '%s' of null\"" => "\"Cannot read property '%s' of undefined\"";
    2 "\"cannot read property '%s' of undefined\"" => "\"Cannot read property '%s' of undefined\"";
    1 "\"cannot set property '%s' of null\"" => "\"Cannot convert undefined or null to object\"";
    1 "\"cannot set property '%s' of undefined\"" => "\"Cannot convert undefined or null to object\"";
    1 "    JSValue method, ret, sync_iter;\n\n    if (is_async) {\n" =>
      "    JSValue method, ret, sync_iter;\n\n    \
       if (JS_IsUndefined(obj) || JS_IsNull(obj))\n        \
       return JS_ThrowTypeError(ctx, \"Cannot convert undefined or null to object\");\n    if (is_async) {\n";
    2 "\"value is not iterable\"" => "\"object is not iterable\"";
    1 "                ret_val = JS_ToObject(ctx, sp[-1]);\n                if (JS_IsException(ret_val))\n                    goto exception;\n" =>
      r#"                if (JS_IsUndefined(sp[-1]) || JS_IsNull(sp[-1])) {
                    JS_ThrowTypeError(ctx, "Value is not object coercible");
                    goto exception;
                }
                ret_val = JS_ToObject(ctx, sp[-1]);
                if (JS_IsException(ret_val))
                    goto exception;
"#;
    1 "\"'%s' is read-only\"" => "\"Cannot assign to read only property '%s'\"";
    1 "                    JS_ThrowTypeErrorReadOnly(ctx, JS_PROP_THROW, atom);\n                else\n                if (type == JS_THROW_VAR_REDECL)" =>
      "                    JS_ThrowTypeError(ctx, \"Assignment to constant variable.\");\n                else\n                if (type == JS_THROW_VAR_REDECL)";
    1 "    return JS_ThrowReferenceError(ctx, \"%s is not initialized\",\n" =>
      "    if (name != JS_ATOM_this)\n        \
       return JS_ThrowReferenceError(ctx, \"Cannot access a variable before initialization\");\n    \
       return JS_ThrowReferenceError(ctx, \"Must call super constructor in derived class before accessing '%s'\",\n";
    2 "            ret = JS_ThrowTypeErrorOrFalse(ctx, flags, \"object is not extensible\");\n" =>
      "            ret = JS_ThrowTypeErrorOrFalse(ctx, flags, \"Cannot add property %s, object is not extensible\",\n                                           \
       JS_AtomGetStr(ctx, (char[ATOM_GET_STR_BUF_SIZE]){ 0 }, ATOM_GET_STR_BUF_SIZE, prop));\n";
    1 "        return JS_ThrowTypeErrorOrFalse(ctx, flags, \"object is not extensible\");\n" =>
      "        return JS_ThrowTypeErrorOrFalse(ctx, flags, \"Cannot define property %s, object is not extensible\",\n                                        \
       JS_AtomGetStr(ctx, (char[ATOM_GET_STR_BUF_SIZE]){ 0 }, ATOM_GET_STR_BUF_SIZE, prop));\n";
    1 "        JS_ThrowTypeError(ctx, \"could not delete property\");\n" =>
      "        JS_ThrowTypeErrorAtom(ctx, \"Cannot delete property '%s' of [object Object]\", prop);\n";
    1 "            JS_ThrowTypeError(ctx, \"no setter for property\");\n" =>
      "            JS_ThrowTypeError(ctx, \"Cannot assign to read only property\");\n";
    1 "\"class constructors must be invoked with 'new'\"" => "\"Class constructor cannot be invoked without 'new'\"";
    1 "\"parent class must be constructor\"" => "\"Class extends value is not a constructor or null\"";
    1 "\"%s is not a constructor\", name)" => "\"Value is not a constructor\", name)";
    1 "JS_ThrowTypeError(ctx, \"not a constructor\")" => "JS_ThrowTypeError(ctx, \"Value is not a constructor\")";
    1 "\"must be called with new\"" => "\"Constructor requires 'new'\"";
    4 "\"invalid array length\"" => "\"Invalid array length\"";
    1 "\"invalid repeat count\"" => "\"Invalid count value\"";
    1 "    if (f < 0 || f > 100)\n        return JS_ThrowRangeError(ctx, \"invalid number of digits\");\n    if (fabs(d)" =>
      "    if (f < 0 || f > 100)\n        return JS_ThrowRangeError(ctx, \"toFixed() precision must be between 0 and 100\");\n    if (fabs(d)";
    1 "\"bad normalization form\"" => "\"The normalization form should be one of NFC, NFD, NFKC, NFKD\"";
    2 "\"bigint argument with unary +\"" => "\"Cannot convert a BigInt value to a number\"";
    1 "\"private class field '%s' does not exist\"" =>
      "\"Cannot read private member %s from an object whose class did not declare it\"";
    1 "\"circular prototype chain\"" => "\"Cyclic __proto__ value\"";
    1 "\"cannot convert BigInt to number\"" => "\"Cannot convert a BigInt value to a number\"";
    1 "        JS_ThrowTypeError(ctx, \"invalid 'in' operand\");\n        return -1;\n    }\n    atom = " =>
      "        brunt_throw_uncallable(ctx, op2);\n        return -1;\n    }\n    atom = ";
    1 "        JS_ThrowTypeError(ctx, \"invalid 'instanceof' right operand\");\n" =>
      "        brunt_throw_uncallable(ctx, obj);\n";
    // `[...undefined]`, `f(...undefined)` and `Array.from(undefined)`.
    1 "    iterator = JS_GetProperty(ctx, sp[-1], JS_ATOM_Symbol_iterator);\n" =>
      "    if (JS_IsUndefined(sp[-1]) || JS_IsNull(sp[-1])) {\n        \
       JS_ThrowTypeError(ctx, \"Cannot convert undefined or null to object\");\n        return -1;\n    }\n    \
       iterator = JS_GetProperty(ctx, sp[-1], JS_ATOM_Symbol_iterator);\n";
    2 "    JSValueConst items = argv[0], mapfn, this_arg;\n" => "    JSValueConst items = argv[0], mapfn, this_arg;\n    \
       if (JS_IsUndefined(items) || JS_IsNull(items))\n        \
       return JS_ThrowTypeError(ctx, \"Cannot convert undefined or null to object\");\n";
    1 "\"Date value is NaN\"" => "\"Invalid time value\"";
    1 "\"cannot convert symbol to number\"" => "\"Cannot convert a Symbol value to a number\"";
    1 "\"cannot convert symbol to string\"" => "\"Cannot convert a Symbol value to a string\"";
    1 "\"BigInt division by zero\"" => "\"Division by zero\"";
    1 "\"expecting hex digit\"" => "\"Malformed URI\"";
    2 "\"expecting surrogate pair\"" => "\"Malformed URI\"";
    1 "\"empty array\"" => "\"No initial value\"";
    1 "\"() {\\n    [native code]\\n}\"" => "\"() { [native code] }\"";
    // Frames: an accessor bears its plain name, and the constructor of a class none.
    1 "            func_name_str = get_func_name(ctx, sf->cur_func);\n            if (!func_name_str || func_name_str[0] == '\\0')\n" =>
      "            func_name_str = b && p->is_constructor && !b->has_prototype ? NULL : get_func_name(ctx, sf->cur_func);\n            \
       /* what the language calls by itself is in no trace, and neither is `new Promise` */\n            \
       if (!b && func_name_str && (!strncmp(func_name_str, \"[Symbol.\", 8) || !strncmp(func_name_str, \"get \", 4) ||\n                \
       js_same_value(ctx, sf->cur_func, ctx->promise_ctor))) {\n                \
       JS_FreeCString(ctx, func_name_str);\n                continue;\n            }\n            \
       if (!func_name_str || func_name_str[0] == '\\0')\n";
    1 "            else\n                str1 = func_name_str;\n            bool brunt_named" =>
      "            else\n                \
       str1 = b && (!strncmp(func_name_str, \"get \", 4) || !strncmp(func_name_str, \"set \", 4)) ? func_name_str + 4 : func_name_str;\n            \
       bool brunt_named";
    // Behind the last frame of an async function that goes on after an `await` come those that await it.
    1 "} JSAsyncFunctionData;\n" => "} JSAsyncFunctionData;\n\nstatic JSStackFrame *brunt_caller(JSStackFrame *sf, bool *awaits);\n";
    1 "    for (sf = sf_start; sf != NULL && i < stack_trace_limit; sf = sf->prev_frame) {\n        if (backtrace_flags" =>
      "    bool brunt_awaits = false;\n    \
       for (sf = sf_start; sf != NULL && i < stack_trace_limit; sf = brunt_caller(sf, &brunt_awaits)) {\n        if (backtrace_flags";
    1 "JSPromiseStateEnum JS_PromiseState(JSContext *ctx, JSValueConst promise)\n{" => r"/* The frame that called this one; behind the last, that of the async function which awaits its result. `awaits` says
   that the frame is one of those: where it was called from has passed. */
static JSStackFrame *brunt_caller(JSStackFrame *sf, bool *awaits)
{
    JSAsyncFunctionData *data;
    JSPromiseFunctionData *settles;
    JSPromiseData *promise;
    JSPromiseReactionData *reaction;
    JSObject *p;

    if (!*awaits && sf->prev_frame)
        return sf->prev_frame;
    if (JS_VALUE_GET_TAG(sf->cur_func) != JS_TAG_OBJECT)
        return NULL;
    p = JS_VALUE_GET_OBJ(sf->cur_func);
    if (p->class_id != JS_CLASS_ASYNC_FUNCTION)
        return NULL;
    data = container_of(container_of(sf, JSAsyncFunctionState, frame), JSAsyncFunctionData, func_state);
    if (JS_VALUE_GET_TAG(data->resolving_funcs[0]) != JS_TAG_OBJECT)
        return NULL;
    p = JS_VALUE_GET_OBJ(data->resolving_funcs[0]);
    if (p->class_id != JS_CLASS_PROMISE_RESOLVE_FUNCTION)
        return NULL;
    settles = p->u.promise_function_data;
    promise = settles ? JS_GetOpaque(settles->promise, JS_CLASS_PROMISE) : NULL;
    if (!promise || promise->promise_state != JS_PROMISE_PENDING || list_empty(&promise->promise_reactions[0]))
        return NULL;
    reaction = list_entry(promise->promise_reactions[0].next, JSPromiseReactionData, link);
    if (JS_VALUE_GET_TAG(reaction->handler) != JS_TAG_OBJECT)
        return NULL;
    p = JS_VALUE_GET_OBJ(reaction->handler);
    if (p->class_id != JS_CLASS_ASYNC_FUNCTION_RESOLVE || !p->u.async_function_data->is_active)
        return NULL;
    *awaits = true;
    return &p->u.async_function_data->func_state.frame;
}

JSPromiseStateEnum JS_PromiseState(JSContext *ctx, JSValueConst promise)
{";
];
