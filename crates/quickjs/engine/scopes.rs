//! A number that async functions keep over their `await`s: each one goes on in the scope in which it was called. Nothing
//! is done as long as all are in scope 0.

use super::adjustments::Adjustment;

pub(crate) const SCOPES: &[Adjustment] = &[
    Adjustment {
        file: "quickjs.c",
        find: "struct JSRuntime {\n    JSMallocFunctions mf;\n",
        put: "struct JSRuntime {\n    JSMallocFunctions mf;\n    int brunt_scope;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    bool throw_flag; /* used to throw an exception in JS_CallInternal() */\n    JSStackFrame frame;\n} JSAsyncFunctionState;\n",
        put: "    bool throw_flag; /* used to throw an exception in JS_CallInternal() */\n    int brunt_scope;\n    \
              JSStackFrame frame;\n} JSAsyncFunctionState;\n\n\
              typedef void BruntScopeHook(JSContext *ctx, int from, int to);\nstatic BruntScopeHook *brunt_scope_hook;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    s->this_val = js_dup(this_obj);\n    s->argc = argc;\n    sf->arg_count = arg_buf_len;\n",
        put: "    s->this_val = js_dup(this_obj);\n    s->argc = argc;\n    s->brunt_scope = ctx->rt->brunt_scope;\n    \
              sf->arg_count = arg_buf_len;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    func_obj = JS_MKPTR(JS_TAG_INT, s);\n    return JS_CallInternal(ctx, func_obj, s->this_val, JS_UNDEFINED,\n                           \
               s->argc, vc(s->frame.arg_buf),\n                           JS_CALL_FLAG_GENERATOR);\n",
        put: r"    func_obj = JS_MKPTR(JS_TAG_INT, s);
    int brunt_before = ctx->rt->brunt_scope;
    if (unlikely(brunt_before != s->brunt_scope))
        brunt_enter_scope(ctx, s->brunt_scope);
    JSValue brunt_result = JS_CallInternal(ctx, func_obj, s->this_val, JS_UNDEFINED,
                                           s->argc, vc(s->frame.arg_buf),
                                           JS_CALL_FLAG_GENERATOR);
    if (unlikely(ctx->rt->brunt_scope != brunt_before))
        brunt_enter_scope(ctx, brunt_before);
    return brunt_result;
",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static JSValue async_func_resume(JSContext *ctx, JSAsyncFunctionState *s)\n{",
        put: r"/* From here on, code runs in this scope. */
void brunt_enter_scope(JSContext *ctx, int scope)
{
    int from = ctx->rt->brunt_scope;
    ctx->rt->brunt_scope = scope;
    if (from != scope && brunt_scope_hook)
        brunt_scope_hook(ctx, from, scope);
}

/* Who is told when the scope changes; for all runtimes. */
void brunt_set_scope_hook(BruntScopeHook *hook)
{
    __atomic_store_n(&brunt_scope_hook, hook, __ATOMIC_RELAXED);
}

int brunt_scope(JSContext *ctx)
{
    return ctx->rt->brunt_scope;
}

static JSValue async_func_resume(JSContext *ctx, JSAsyncFunctionState *s)
{",
        times: 1,
    },
    // k6's engine takes the global object for the `this` of arrow functions that a module has outside of all others, though the
    // module's own `this` is undefined; what its compiler of TypeScript writes has neither.
    Adjustment {
        file: "quickjs.c",
        find: "    for (fd = s; fd->parent;) {\n        scope_level = fd->parent_scope_level;\n        fd = fd->parent;\n",
        put: "    for (fd = s; fd->parent;) {\n        scope_level = fd->parent_scope_level;\n        fd = fd->parent;\n        \
              if (fd->module && var_name == JS_ATOM_this &&\n            \
              (op == OP_scope_get_var || op == OP_scope_get_var_undef) &&\n            \
              !brunt_is_typescript(ctx, fd->filename)) {\n            \
              dbuf_putc(bc, OP_get_var);\n            \
              dbuf_put_u32(bc, JS_DupAtom(ctx, JS_ATOM_globalThis));\n            \
              goto done;\n        }\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static int resolve_scope_var(JSContext *ctx, JSFunctionDef *s,\n                             JSAtom var_name, int scope_level, int op,\n                             DynBuf *bc, uint8_t *bc_buf,\n                             LabelSlot *ls, int pos_next)\n{",
        put: r#"static bool brunt_is_typescript(JSContext *ctx, JSAtom filename)
{
    const char *name = JS_AtomToCString(ctx, filename);
    if (!name) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        return false;
    }
    size_t length = strlen(name);
    bool is = length > 3 && !strcmp(name + length - 3, ".ts");
    JS_FreeCString(ctx, name);
    return is;
}

static int resolve_scope_var(JSContext *ctx, JSFunctionDef *s,
                             JSAtom var_name, int scope_level, int op,
                             DynBuf *bc, uint8_t *bc_buf,
                             LabelSlot *ls, int pos_next)
{"#,
        times: 1,
    },
];
