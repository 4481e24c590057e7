//! The text of functions, which `toString()` shows: it lies in the compiled code, which all VMs of the process share and
//! each of them holds as long as it lives; so it is neither copied nor freed by them. And what scripts see of functions and
//! exports that nobody wrote.

use super::adjustments::Adjustment;

pub(crate) const SOURCES_OF_FUNCTIONS: &[Adjustment] = &[
    Adjustment {
        file: "quickjs.c",
        find: "    uint8_t backtrace_barrier : 1; /* stop backtrace on this function */\n    /* XXX: 5 bits available */\n    uint8_t *byte_code_buf; /* (self pointer) */\n",
        put: "    uint8_t backtrace_barrier : 1; /* stop backtrace on this function */\n    \
              uint8_t brunt_borrows : 1; /* 'source' lies in the compiled code */\n    \
              uint8_t brunt_is_implied : 1; /* the constructor of a class that was written without one */\n    \
              uint8_t *byte_code_buf; /* (self pointer) */\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        b->source = js_mallocz(ctx, b->source_len + 1);\n        if (!b->source)\n            goto fail;\n        \
               if (bc_get_buf(s, b->source, b->source_len))\n            goto fail;\n",
        put: "        if (unlikely(s->buf_end - s->ptr < b->source_len)) {\n            \
              bc_read_error_end(s);\n            goto fail;\n        }\n        \
              b->source = (char *)s->ptr;\n        b->brunt_borrows = 1;\n        s->ptr += b->source_len;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    js_free_rt(rt, b->source);\n",
        put: "    if (!b->brunt_borrows)\n        js_free_rt(rt, b->source);\n",
        times: 1,
    },
    // The text of a function is also part of the text of those around it: that of large ones, whole bundles, is left out.
    Adjustment {
        file: "quickjs.c",
        find: "        if (s->allow_source && b->source) {\n",
        put: "        if (s->allow_source && b->source && b->source_len <= 8192) {\n",
        times: 1,
    },
    // A constructor that was not written is in no trace.
    Adjustment {
        file: "quickjs.c",
        find: "    int source_len;\n\n    JSModuleDef *module; /* != NULL when parsing a module */\n",
        put: "    int source_len;\n    bool brunt_is_implied;\n\n    JSModuleDef *module; /* != NULL when parsing a module */\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    fd->has_prototype = false;\n    fd->has_this_binding = true;\n    fd->new_target_allowed = true;\n\n    push_scope(s);  /* enter body scope */\n",
        put: "    fd->has_prototype = false;\n    fd->has_this_binding = true;\n    fd->new_target_allowed = true;\n    \
              fd->brunt_is_implied = true;\n\n    push_scope(s);  /* enter body scope */\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    b->is_derived_class_constructor = fd->is_derived_class_constructor;\n",
        put: "    b->is_derived_class_constructor = fd->is_derived_class_constructor;\n    \
              b->brunt_is_implied = fd->brunt_is_implied;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    bc_put_u8(s, b->is_strict_mode);\n",
        put: "    bc_put_u8(s, b->is_strict_mode | b->brunt_is_implied << 1);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    bc.is_strict_mode = (v8 > 0);\n",
        put: "    bc.is_strict_mode = v8 & 1;\n    bc.brunt_is_implied = v8 >> 1;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            backtrace_barrier = b->backtrace_barrier;\n        }\n",
        put: "            backtrace_barrier = b->backtrace_barrier;\n            if (b->brunt_is_implied)\n                \
              continue;\n        }\n",
        times: 1,
    },
    // The trace of an error is a property of its own, the first, as in k6: scripts print errors by their own properties. The
    // engine's place keeps it, too, whatever a script makes of the property.
    Adjustment {
        file: "quickjs.c",
        find: "    if (!JS_IsUndefined(p->u.object_data))\n        return false;\n    if (find_own_property1(p, JS_ATOM_stack))\n        return false;\n    return true;\n",
        put: "    return JS_IsUndefined(p->u.object_data);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        JS_FreeValue(ctx, p->u.object_data);\n        p->u.object_data = stack;\n    } else if (can_add_backtrace(error_obj)) {\n",
        put: "        JS_FreeValue(ctx, p->u.object_data);\n        p->u.object_data = js_dup(stack);\n        \
              brunt_keep_stack(ctx, p, stack, brunt_head);\n    \
              } else if (can_add_backtrace(error_obj)) {\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (JS_IsException(obj))\n        return obj;\n    switch (magic) {\n    case JS_AGGREGATE_ERROR:\n        message = argv[1];\n",
        put: "    if (JS_IsException(obj))\n        return obj;\n    \
              JS_DefineAutoInitProperty(ctx, obj, JS_ATOM_stack, JS_AUTOINIT_ID_PROP, NULL, JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);\n    \
              switch (magic) {\n    case JS_AGGREGATE_ERROR:\n        message = argv[1];\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        obj = JS_NewObjectProtoClass(ctx, ctx->native_error_proto[error_num],\n                                     JS_CLASS_ERROR);\n    }\n",
        put: "        obj = JS_NewObjectProtoClass(ctx, ctx->native_error_proto[error_num],\n                                     JS_CLASS_ERROR);\n    }\n    \
              if (!JS_IsException(obj))\n        \
              JS_DefineAutoInitProperty(ctx, obj, JS_ATOM_stack, JS_AUTOINIT_ID_PROP, NULL, JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    JS_CGETSET_DEF(\"stack\", js_error_get_stack, js_error_set_stack ),\n",
        put: "",
        times: 1,
    },
    // Its first line is made when it is read for the first time, as in k6: many errors get their name behind `super(message)`.
    Adjustment {
        file: "quickjs.c",
        find: "static JSValue JS_InstantiateFunctionListItem2(JSContext *ctx, JSObject *p,\n                                               \
               JSAtom atom, void *opaque)\n{\n    const JSCFunctionListEntry *e = opaque;\n    JSValue val, proto;\n",
        put: LATE_STACK,
        times: 1,
    },
    // The namespace of a native module has no `default`, as in k6; it can be imported by that name.
    Adjustment {
        file: "quickjs.c",
        find: "        if (from_star && me->export_name == JS_ATOM_default)\n",
        put: "        if ((from_star || m->init_func) && me->export_name == JS_ATOM_default)\n",
        times: 1,
    },
];

/// The trace of an error when it is read for the first time. `opaque` is the size of the first line that was written when the
/// error was made; it stays if the name or the message is now more than a plain value, since no script may run here.
const LATE_STACK: &str = r#"static bool brunt_late_part(JSContext *ctx, DynBuf *dbuf, JSObject *p, JSAtom prop, const char *before)
{
    JSProperty *pr;
    JSShapeProperty *prs;
    for (; p; p = p->shape->proto) {
        if (p->is_exotic)
            return false;
        prs = find_own_property(&pr, p, prop);
        if (!prs)
            continue;
        if ((prs->flags & JS_PROP_TMASK) != JS_PROP_NORMAL)
            return false;
        if (!JS_IsObject(pr->u.value) && !JS_IsSymbol(pr->u.value) && !JS_IsUndefined(pr->u.value)) {
            size_t len = 0;
            const char *text = JS_ToCStringLen(ctx, &len, pr->u.value);
            if (!text)
                JS_FreeValue(ctx, JS_GetException(ctx));
            if (text && len > 0) {
                dbuf_putstr(dbuf, before);
                dbuf_put(dbuf, (const uint8_t *)text, len);
            }
            JS_FreeCString(ctx, text);
        }
        return true;
    }
    return true;
}

static JSValue brunt_late_stack(JSContext *ctx, JSObject *p, size_t head)
{
    DynBuf dbuf;
    JSValue stack = JS_UNDEFINED;
    size_t len = 0;
    const char *text;
    if (!JS_IsString(p->u.object_data))
        return js_dup(p->u.object_data);
    js_dbuf_init(ctx, &dbuf);
    text = JS_ToCStringLen(ctx, &len, p->u.object_data);
    if (!text)
        JS_FreeValue(ctx, JS_GetException(ctx));
    if (text && head <= len && brunt_late_part(ctx, &dbuf, p, JS_ATOM_name, "") &&
        brunt_late_part(ctx, &dbuf, p, JS_ATOM_message, ": ") &&
        !dbuf_putc(&dbuf, '\n') && !dbuf_put(&dbuf, (const uint8_t *)text + head, len - head))
        stack = JS_NewStringLen(ctx, (char *)dbuf.buf, dbuf.size);
    JS_FreeCString(ctx, text);
    dbuf_free(&dbuf);
    if (JS_IsException(stack))
        JS_FreeValue(ctx, JS_GetException(ctx));
    return JS_IsString(stack) ? stack : js_dup(p->u.object_data);
}

static JSValue JS_InstantiateFunctionListItem2(JSContext *ctx, JSObject *p,
                                               JSAtom atom, void *opaque)
{
    const JSCFunctionListEntry *e = opaque;
    JSValue val, proto;
    if (p->class_id == JS_CLASS_ERROR && atom == JS_ATOM_stack)
        return brunt_late_stack(ctx, p, (size_t)(uintptr_t)opaque);
"#;
