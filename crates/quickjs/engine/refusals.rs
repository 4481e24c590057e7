//! What the language's own functions and operators say in k6 when they refuse what they are given.

use super::adjustments::Adjustment;
use super::messages::adjusted;

/// Of the parser of regular expressions.
pub(crate) const OF_PATTERNS: &[Adjustment] = &[
    Adjustment {
        file: "libregexp.c",
        find: "        return re_parse_error(s, \"expecting '%c'\", c);\n",
        put: "        return re_parse_error(s, c == ')' ? \"Unterminated group\" : \"expecting '%c'\", c);\n",
        times: 1,
    },
    Adjustment {
        file: "libregexp.c",
        find: "\"unexpected end\"",
        put: "\"Unterminated character class\"",
        times: 1,
    },
    Adjustment {
        file: "libregexp.c",
        find: "\"extraneous characters at the end\"",
        put: "\"Unmatched ')'\"",
        times: 1,
    },
];

/// To be made after the other messages, some of whose functions they call.
pub(crate) const REFUSALS: &[Adjustment] = adjusted![
    // BigInt.
    1 "static JSValue JS_StringToBigIntErr(JSContext *ctx, JSValue val)\n{\n    val = JS_StringToBigInt(ctx, val);\n    \
       if (JS_VALUE_IS_NAN(val))\n        return JS_ThrowSyntaxError(ctx, \"invalid BigInt literal\");\n    return val;\n}\n" =>
      r#"/* This is no BigInt. */
static JSValue brunt_throw_no_bigint(JSContext *ctx, JSValueConst val, JSErrorEnum kind)
{
    const char *text = JS_ToCString(ctx, val);
    if (!text)
        return JS_EXCEPTION;
    if (kind == JS_SYNTAX_ERROR)
        JS_ThrowSyntaxError(ctx, "Cannot convert %s to a BigInt", text);
    else if (kind == JS_RANGE_ERROR)
        JS_ThrowRangeError(ctx, "Cannot convert %s to a BigInt", text);
    else
        JS_ThrowTypeError(ctx, "Cannot convert %s to a BigInt", text);
    JS_FreeCString(ctx, text);
    return JS_EXCEPTION;
}

static JSValue JS_StringToBigIntErr(JSContext *ctx, JSValue val)
{
    JSValue text = js_dup(val);
    val = JS_StringToBigInt(ctx, val);
    if (JS_VALUE_IS_NAN(val))
        val = brunt_throw_no_bigint(ctx, text, JS_SYNTAX_ERROR);
    JS_FreeValue(ctx, text);
    return val;
}
"#;
    1 "        JS_FreeValue(ctx, val);\n        return JS_ThrowTypeError(ctx, \"cannot convert to bigint\");\n" =>
      "        brunt_throw_no_bigint(ctx, val, JS_TYPE_ERROR);\n        JS_FreeValue(ctx, val);\n        return JS_EXCEPTION;\n";
    1 "        JS_FreeValue(ctx, val);\n        return JS_ThrowTypeError(ctx, \"cannot convert to BigInt\");\n" =>
      "        brunt_throw_no_bigint(ctx, val, JS_TYPE_ERROR);\n        JS_FreeValue(ctx, val);\n        return JS_EXCEPTION;\n";
    1 "JS_ThrowRangeError(ctx, \"cannot convert to BigInt: not an integer\")" => "brunt_throw_no_bigint(ctx, val, JS_RANGE_ERROR)";
    1 "JS_ThrowRangeError(ctx, \"cannot convert NaN or Infinity to BigInt\")" => "brunt_throw_no_bigint(ctx, val, JS_RANGE_ERROR)";
    1 "\"BigInt negative exponent\"" => "\"exponent must be positive\"";
    1 "\"BigInt operands are forbidden for >>>\"" => "\"BigInts have no unsigned right shift, use >> instead\"";
    2 "        /* float64 result */\n        if (JS_ToFloat64Free(ctx, &d1, op1)) {\n" =>
      "        /* float64 result */\n        \
       if (unlikely(JS_IsBigInt(op1) || JS_IsBigInt(op2))) {\n            \
       JS_ThrowTypeError(ctx, \"Cannot mix BigInt and other types, use explicit conversions\");\n            \
       JS_FreeValue(ctx, op1);\n            JS_FreeValue(ctx, op2);\n            goto exception;\n        }\n        \
       if (JS_ToFloat64Free(ctx, &d1, op1)) {\n";
    // Constructors.
    2 "    if (!JS_IsUndefined(new_target))\n        return JS_ThrowTypeErrorNotAConstructor(ctx, new_target);\n" =>
      "    if (!JS_IsUndefined(new_target)) {\n        \
       const char *name = get_func_name(ctx, new_target);\n        \
       JS_ThrowTypeError(ctx, \"%s is not a constructor\", name ? name : \"Value\");\n        \
       JS_FreeCString(ctx, name);\n        return JS_EXCEPTION;\n    }\n";
    1 "                ret_val = JS_ThrowTypeError(ctx, \"Constructor requires 'new'\");\n                break;\n" =>
      "                {\n                    const char *name = get_func_name(ctx, func_obj);\n                    \
       ret_val = JS_ThrowTypeError(ctx, \"Constructor %s requires 'new'\", name ? name : \"\");\n                    \
       JS_FreeCString(ctx, name);\n                }\n                break;\n";
    // Proxies.
    1 "        JS_VALUE_GET_TAG(handler) != JS_TAG_OBJECT) {\n        return JS_ThrowTypeErrorNotAnObject(ctx);\n" =>
      "        JS_VALUE_GET_TAG(handler) != JS_TAG_OBJECT) {\n        \
       return JS_ThrowTypeError(ctx, \"Cannot create proxy with a non-object as target or handler\");\n";
    1 "\"revoked proxy\"" => "\"Proxy already revoked\"";
    1 "JS_ThrowTypeError(ctx, \"proxy: cannot set property\")" =>
      "JS_ThrowTypeErrorAtom(ctx, \"'set' on proxy: trap returned falsish for property '%s'\", atom)";
    1 "\"proxy: defineProperty exception\"" => "\"'defineProperty' on proxy: trap returned falsish\"";
    // Numbers and places.
    1 "JS_ThrowRangeError(ctx, \"invalid array index\")" => "JS_ThrowRangeError(ctx, \"Invalid index %\" PRId64, v)";
    1 "JS_ThrowRangeError(ctx, \"invalid array index: %\" PRId64, idx)" => "JS_ThrowRangeError(ctx, \"Invalid index %\" PRId64, idx)";
    2 "return JS_ThrowRangeError(ctx, \"out of bound\")" => "return JS_ThrowRangeError(ctx, \"Index %\" PRIu64 \" is out of bounds\", pos)";
    1 "JS_ThrowRangeError(ctx, \"invalid byteOffset\")" =>
      "JS_ThrowRangeError(ctx, \"Start offset %\" PRIu64 \" is outside the bounds of the buffer\", offset)";
    1 "static JSValue js_typed_array_constructor(JSContext *ctx,\n                                          JSValueConst new_target,\n                                          \
       int argc, JSValueConst *argv,\n                                          int classid)\n{\n" =>
      r"/* `%s` in the words is the name of a kind of typed arrays, `%d` the size of an element. */
static JSValue brunt_throw_of_kind(JSContext *ctx, int classid, const char *words)
{
    const char *name = JS_AtomToCString(ctx, ctx->rt->class_array[classid].class_name);
    if (!name)
        return JS_EXCEPTION;
    JS_ThrowRangeError(ctx, words, name, 1 << typed_array_size_log2(classid));
    JS_FreeCString(ctx, name);
    return JS_EXCEPTION;
}

static JSValue js_typed_array_constructor(JSContext *ctx,
                                          JSValueConst new_target,
                                          int argc, JSValueConst *argv,
                                          int classid)
{
";
    1 "            if ((offset & ((1 << size_log2) - 1)) != 0 ||\n                offset > abuf->byte_length)\n                \
       return JS_ThrowRangeError(ctx, \"invalid offset\");\n" =>
      "            if ((offset & ((1 << size_log2) - 1)) != 0)\n                \
       return brunt_throw_of_kind(ctx, classid, \"Start offset of %s should be a multiple of %d\");\n            \
       if (offset > abuf->byte_length)\n                \
       return JS_ThrowRangeError(ctx, \"Start offset %\" PRIu64 \" is outside the bounds of the buffer\", offset);\n";
    1 "                    if ((abuf->byte_length & ((1 << size_log2) - 1)) != 0)\n                        goto invalid_length;\n" =>
      "                    if ((abuf->byte_length & ((1 << size_log2) - 1)) != 0)\n                        \
       return brunt_throw_of_kind(ctx, classid, \"Byte length of %s should be a multiple of %d\");\n";
    // Values of the wrong kind.
    1 "\"null or undefined are forbidden\"" => "\"Value is not object coercible\"";
    1 "                if (!JS_IsObject(item)) {\n                    JS_ThrowTypeErrorNotAnObject(ctx);\n                    goto fail1;\n" =>
      "                if (!JS_IsObject(item)) {\n                    brunt_throw_uncallable(ctx, item);\n                    goto fail1;\n";
    1 "        return JS_ThrowTypeError(ctx, \"invalid value used as %s key\", is_set ? \"WeakSet\" : \"WeakMap\");\n" =>
      "        return brunt_throw_uncallable(ctx, key);\n";
    1 "        JS_ThrowTypeError(ctx, \"not a object\");\n" => "        brunt_throw_uncallable(ctx, array_arg);\n";
    1 "    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)\n        return JS_ThrowTypeErrorNotAnObject(ctx);\n    \
       atom = JS_ValueToAtom(ctx, prop);\n    if (unlikely(atom == JS_ATOM_NULL))\n        return JS_EXCEPTION;\n    flags = JS_PROP_THROW | JS_PROP_DEFINE_PROPERTY;\n" =>
      "    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)\n        \
       return JS_ThrowTypeError(ctx, \"%s.defineProperty called on non-object\", magic ? \"Reflect\" : \"Object\");\n    \
       atom = JS_ValueToAtom(ctx, prop);\n    if (unlikely(atom == JS_ATOM_NULL))\n        return JS_EXCEPTION;\n    flags = JS_PROP_THROW | JS_PROP_DEFINE_PROPERTY;\n";
    1 "    if (!JS_IsSymbol(argv[0]))\n        return JS_ThrowTypeError(ctx, \"not a symbol\");\n" =>
      "    if (!JS_IsSymbol(argv[0])) {\n        const char *text = JS_ToCString(ctx, argv[0]);\n        \
       if (text)\n            JS_ThrowTypeError(ctx, \"%s is not a symbol\", text);\n        \
       JS_FreeCString(ctx, text);\n        return JS_EXCEPTION;\n    }\n";
    1 "    if (!JS_IsUndefined(asc.method)) {\n        if (check_function(ctx, asc.method))\n            goto exception;\n" =>
      "    if (!JS_IsUndefined(asc.method)) {\n        if (!JS_IsFunction(ctx, asc.method)) {\n            \
       JS_ThrowTypeError(ctx, \"The comparison function must be either a function or undefined\");\n            \
       goto exception;\n        }\n";
    1 "    if (!JS_IsUndefined(argv[0]))\n        if (check_function(ctx, argv[0]))\n            return JS_EXCEPTION;\n" =>
      "    if (!JS_IsUndefined(argv[0]) && !JS_IsFunction(ctx, argv[0]))\n        \
       return JS_ThrowTypeError(ctx, \"The comparison function must be either a function or undefined\");\n";
    4 "    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)\n        return JS_ThrowTypeErrorNotAnObject(ctx);\n" =>
      "    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)\n        return brunt_throw_uncallable(ctx, obj);\n";
    1 "        if (JS_VALUE_GET_TAG(proto_val) != JS_TAG_NULL) {\n        not_obj:\n" =>
      "        if (JS_VALUE_GET_TAG(proto_val) != JS_TAG_NULL) {\n            \
       const char *text = JS_ToCString(ctx, proto_val);\n            \
       if (text)\n                JS_ThrowTypeError(ctx, \"Object prototype may only be an Object or null: %s\", text);\n            \
       JS_FreeCString(ctx, text);\n            return -1;\n        not_obj:\n";
    // A setter that is not there.
    1 "static int call_setter(JSContext *ctx, JSObject *setter,\n" => "static int call_setter(JSContext *ctx, JSAtom prop, JSObject *setter,\n";
    2 "call_setter(ctx, pr->u.getset.setter, this_obj, val, flags)" => "call_setter(ctx, prop, pr->u.getset.setter, this_obj, val, flags)";
    1 "call_setter(ctx, setter, this_obj, val, flags)" => "call_setter(ctx, prop, setter, this_obj, val, flags)";
    1 "            JS_ThrowTypeError(ctx, \"Cannot assign to read only property\");\n" =>
      "            JS_ThrowTypeErrorAtom(ctx, \"Cannot assign to read only property '%s'\", prop);\n";
    // `o.m(...list)`: the method that is not there was noted, its place is that of the object now.
    1 "                ret_val = js_function_apply(ctx, sp[-3], 2, vc(&sp[-2]), magic);\n" =>
      "                if (unlikely(JS_IsUndefined(sp[-3])) && !JS_IsUndefined(sp[-2]) && rt->brunt_missing != JS_ATOM_NULL &&\n                    \
       rt->brunt_missing_frame == sf && rt->brunt_missing_slot == (void *)&sp[-2]) {\n                    \
       JS_ThrowTypeErrorAtom(ctx, \"Object has no member '%s'\", rt->brunt_missing);\n                    \
       goto exception;\n                }\n                \
       ret_val = js_function_apply(ctx, sp[-3], 2, vc(&sp[-2]), magic);\n";
    // Frames: bound functions have one when a script calls them, and what sets the fields of a class bears a name.
    1 "        return JS_Call(ctx, bf->func_obj, bf->this_val,\n                       arg_count, arg_buf);\n    }\n}\n" =>
      r"        JSRuntime *rt = ctx->rt;
        JSStackFrame sf_s, *sf = &sf_s;
        JSValue ret_val;

        memset(sf, 0, sizeof(*sf));
        sf->prev_frame = rt->current_stack_frame;
        if (!sf->prev_frame || JS_VALUE_GET_TAG(sf->prev_frame->cur_func) != JS_TAG_OBJECT ||
            !js_class_has_bytecode(JS_VALUE_GET_OBJ(sf->prev_frame->cur_func)->class_id))
            return JS_Call(ctx, bf->func_obj, bf->this_val, arg_count, arg_buf);
        sf->cur_func = unsafe_unconst(func_obj);
        sf->arg_count = argc;
        rt->current_stack_frame = sf;
        ret_val = JS_Call(ctx, bf->func_obj, bf->this_val,
                          arg_count, arg_buf);
        rt->current_stack_frame = sf->prev_frame;
        return ret_val;
    }
}
";
    1 "    s->cur_func = cf->fields_init_fd;\n\n    if (!cf->is_static) {\n" =>
      "    s->cur_func = cf->fields_init_fd;\n    \
       s->cur_func->func_name = JS_NewAtom(s->ctx, cf->is_static ? \"<static_initializer>\" : \"<instance_members_initializer>\");\n\n    \
       if (!cf->is_static) {\n";
    // Regular expressions.
    1 "            if (check_regexp_g_flag(ctx, regexp) < 0) {\n" => "            if (check_regexp_g_flag(ctx, regexp, \"RegExp doesn't have global flag set\") < 0) {\n";
    1 "            if (check_regexp_g_flag(ctx, searchValue) < 0)\n" =>
      "            if (check_regexp_g_flag(ctx, searchValue,\n                    \
       \"String.prototype.replaceAll called with a non-global RegExp argument\") < 0)\n";
    1 "static int check_regexp_g_flag(JSContext *ctx, JSValueConst regexp)\n" =>
      "static int check_regexp_g_flag(JSContext *ctx, JSValueConst regexp, const char *words)\n";
    1 "JS_ThrowTypeError(ctx, \"regexp must have the 'g' flag\")" => "JS_ThrowTypeError(ctx, \"%s\", words)";
    1 "                JS_FreeCString(ctx, str);\n                return JS_ThrowSyntaxError(ctx, \"invalid regular expression flags\");\n" =>
      "                JS_ThrowSyntaxError(ctx, \"Invalid flags supplied to RegExp constructor '%s'\", str);\n                \
       JS_FreeCString(ctx, str);\n                return JS_EXCEPTION;\n";
];
