//! What is changed in the C sources of the engine, and why. Each entry names text that must occur exactly as often as
//! it says: a new version of the package that changed the place fails the build instead of being patched wrongly.

/// One change of the C sources: in `file`, `find` occurs `times` times and becomes `put`.
pub(crate) struct Adjustment {
    pub(crate) file: &'static str,
    pub(crate) find: &'static str,
    pub(crate) put: &'static str,
    pub(crate) times: usize,
}

pub(crate) const ADJUSTMENTS: &[Adjustment] = &[
    // A stack has a shallow part, which is enough for nearly all scripts, and a deep one: whoever goes beyond the first is
    // remembered, so that the memory of the second can be given back. It costs nothing until then.
    Adjustment {
        file: "quickjs.c",
        find: "    uintptr_t stack_limit; /* lower stack limit */\n",
        put: "    uintptr_t stack_limit; /* lower stack limit, of the shallow part until it was left */\n    \
              uintptr_t brunt_stack_end; /* lower stack limit of the deep part */\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        rt->stack_limit = rt->stack_top - rt->stack_size;\n",
        put: "        rt->brunt_stack_end = rt->stack_top - rt->stack_size;\n        \
              rt->stack_limit = rt->stack_top -\n            \
              (rt->stack_size < BRUNT_SHALLOW ? rt->stack_size : BRUNT_SHALLOW);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static inline bool js_check_stack_overflow(JSRuntime *rt, size_t alloca_size)\n{\n",
        put: "/* Bytes of a stack that count as shallow. */\n#define BRUNT_SHALLOW (512 * 1024)\n\n\
              static no_inline bool brunt_is_too_deep(JSRuntime *rt, uintptr_t sp)\n{\n    \
              if (sp < rt->brunt_stack_end)\n        return true;\n    \
              rt->stack_limit = rt->brunt_stack_end;\n    return false;\n}\n\n\
              static inline bool js_check_stack_overflow(JSRuntime *rt, size_t alloca_size)\n{\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    return unlikely(sp < rt->stack_limit);\n",
        put: "    return unlikely(sp < rt->stack_limit) && brunt_is_too_deep(rt, sp);\n",
        times: 1,
    },
    // `toLocaleTimeString` and `toLocaleString` count 24 hours, as k6's do.
    Adjustment {
        file: "quickjs.c",
        find: r#""%02d:%02d:%02d %cM", (h + 11) % 12 + 1, m, s,
                            (h < 12) ? 'A' : 'P');"#,
        put: r#""%02d:%02d:%02d", h, m, s);"#,
        times: 1,
    },
    // `toString` of dates ends with the name of the zone, as k6's does: `GMT+0000 (UTC)`.
    Adjustment {
        file: "quickjs.c",
        find: "            /* XXX: tack the time zone code? */\n",
        put: "            {\n                \
              struct tm zone;\n                double at;\n                time_t seconds;\n                \
              if (JS_ThisTimeValue(ctx, &at, this_val))\n                    return JS_EXCEPTION;\n                \
              seconds = (time_t)floor(at / 1000);\n                \
              if (localtime_r(&seconds, &zone) && zone.tm_zone)\n                    \
              pos += snprintf(buf + pos, sizeof(buf) - pos, \" (%.16s)\", zone.tm_zone);\n            \
              }\n",
        times: 1,
    },
    // Not there in k6. Libraries look for `captureStackTrace`, and make other traces without it.
    Adjustment {
        file: "quickjs.c",
        find: "    JS_CFUNC_DEF(\"captureStackTrace\", 2, js_error_capture_stack_trace),\n    \
               JS_CGETSET_DEF(\"stackTraceLimit\", js_error_get_stackTraceLimit, js_error_set_stackTraceLimit ),\n    \
               JS_CGETSET_DEF(\"prepareStackTrace\", js_error_get_prepareStackTrace, js_error_set_prepareStackTrace ),\n",
        put: "",
        times: 1,
    },
    // Small blocks come from arenas, by size class. Arenas of 4 KiB for 31 classes are 57 kB of mostly empty space for
    // each VU; so they begin small, and grow with their class. 1 KiB is the most: parsing JSON takes 15 % less time than
    // with 4 KiB.
    Adjustment {
        file: "quickjs.c",
        find: "    struct list_head free_arena_list[JS_ARENA_BLOCK_SIZE_COUNT];\n",
        put: "    struct list_head free_arena_list[JS_ARENA_BLOCK_SIZE_COUNT];\n    \
              uint32_t brunt_blocks[JS_ARENA_BLOCK_SIZE_COUNT]; /* in arenas of this class, used or not */\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    n_blocks = (JS_ARENA_SIZE - sizeof(JSArena)) / block_size;\n",
        put: "    n_blocks = max_int(rt->arena_state.brunt_blocks[block_size_idx] / 8, max_int(1, 400 / block_size));\n    \
              n_blocks = min_int(n_blocks, (1024 - sizeof(JSArena)) / block_size);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    list_add(&ar->link, &rt->arena_state.arena_list[block_size_idx]);\n",
        put: "    list_add(&ar->link, &rt->arena_state.arena_list[block_size_idx]);\n    \
              rt->arena_state.brunt_blocks[block_size_idx] += n_blocks;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            list_del(&ar->link);\n            list_del(&ar->free_link);\n",
        put: "            list_del(&ar->link);\n            list_del(&ar->free_link);\n            \
              rt->arena_state.brunt_blocks[block_size_idx] -= ar->n_blocks;\n",
        times: 1,
    },
    // Once a VU iterates, the last arena of a class stays when it is empty: what each iteration makes and drops would
    // make an arena each time. (`brunt_keeps_shapes`: see `shapes.rs`.)
    Adjustment {
        file: "quickjs.c",
        find: "        if (unlikely(ar->n_used_blocks == 0)) {\n            list_del(&ar->link);\n",
        put: "        if (unlikely(ar->n_used_blocks == 0) &&\n            \
              !(rt->brunt_keeps_shapes && ar->free_link.next == ar->free_link.prev)) {\n            \
              list_del(&ar->link);\n",
        times: 1,
    },
    // A native function may take a millisecond, a sort seconds. So that a loop of such calls is stopped soon, a call
    // counts as a hundred operations, and the sort without a function asks, too.
    Adjustment {
        file: "quickjs.c",
        find: "            return JS_ThrowTypeErrorNotAFunction(caller_ctx);\n        }\n        return call_func(",
        put: "            return JS_ThrowTypeErrorNotAFunction(caller_ctx);\n        }\n        \
              caller_ctx->interrupt_counter -= 100;\n        return call_func(",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        /* Not supposed to bypass ToString even for identical objects as\n",
        put: "        if (js_poll_interrupts(ctx))\n            goto exception;\n        \
              /* Not supposed to bypass ToString even for identical objects as\n",
        times: 1,
    },
    // Names are shared by the runtimes of a thread: `names.c`.
    Adjustment {
        file: "quickjs.c",
        find: "static int JS_InitAtoms(JSRuntime *rt)\n{",
        put: "static int brunt_init_atoms(JSRuntime *rt);\n\
              static int JS_InitAtoms(JSRuntime *rt)\n{\n    return brunt_init_atoms(rt);\n}\n\n\
              static __maybe_unused int brunt_replaced_init_atoms(JSRuntime *rt)\n{",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static int JS_ResizeAtomHash(JSRuntime *rt, int new_hash_size)\n{",
        put: "static void brunt_fill_hash(uint32_t *hash, int size);\n\
              static int JS_ResizeAtomHash(JSRuntime *rt, int new_hash_size)\n{",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    new_hash = js_mallocz_rt(rt, sizeof(rt->atom_hash[0]) * new_hash_size);\n    \
               if (!new_hash)\n        return -1;\n",
        put: "    new_hash = js_mallocz_rt(rt, sizeof(rt->atom_hash[0]) * new_hash_size);\n    \
              if (!new_hash)\n        return -1;\n    brunt_fill_hash(new_hash, new_hash_size);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        while (h != 0) {\n            p = rt->atom_array[h];\n            hash_next1",
        put: "        while (h != 0 && !brunt_is_shared(h)) {\n            \
              p = rt->atom_array[h];\n            hash_next1",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "void JS_FreeRuntime(JSRuntime *rt)\n{",
        put: "static bool brunt_is_shared(int atom);\n\
              static void brunt_unshare_atoms(JSRuntime *rt);\nvoid JS_FreeRuntime(JSRuntime *rt)\n{",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    /* free the atoms */\n    for(i = 0; i < rt->atom_size; i++) {\n        \
               JSAtomStruct *p = rt->atom_array[i];\n        if (!atom_is_free(p)) {",
        put: "    /* free the atoms */\n    for(i = 0; i < rt->atom_size; i++) {\n        \
              JSAtomStruct *p = rt->atom_array[i];\n        if (!brunt_is_shared(i) && !atom_is_free(p)) {",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    js_free_rt(rt, rt->atom_hash);\n    js_free_rt(rt, rt->shape_hash);",
        put: "    if (rt->atom_hash)\n        brunt_unshare_atoms(rt);\n    \
              js_free_rt(rt, rt->atom_hash);\n    js_free_rt(rt, rt->shape_hash);",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        if (!atom_is_free(p)) {\n            s->atom_size +=",
        put: "        if (!brunt_is_shared(i) && !atom_is_free(p)) {\n            s->atom_size +=",
        times: 1,
    },
    // A name in UTF-8 must not be taken for one whose Latin-1 characters happen to have the same bytes.
    Adjustment {
        file: "quickjs.c",
        find: "    if (len == 0 || !is_digit(*str)) {\n        // TODO(chqrlie)",
        put: "    if ((len == 0 || !is_digit(*str)) && brunt_is_ascii(str, len)) {\n        // TODO(chqrlie)",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "/* `str` may be pure ASCII or UTF-8 encoded */\nJSAtom JS_NewAtomLen(",
        put: "static bool brunt_is_ascii(const char *str, size_t len)\n{\n    \
              size_t i;\n    uint8_t all = 0;\n    \
              for (i = 0; i < len; i++)\n        all |= (uint8_t)str[i];\n    \
              return all < 0x80;\n}\n\n\
              /* `str` may be pure ASCII or UTF-8 encoded */\nJSAtom JS_NewAtomLen(",
        times: 1,
    },
    // Globals are made in groups, when they are first used: `groups.c`.
    Adjustment {
        file: "quickjs.c",
        find: "static JSValue js_bytecode_autoinit(JSContext *ctx, JSObject *p, JSAtom atom,\n                                    \
               void *opaque)\n{",
        put: "#define BRUNT_GROUP_TAG 100 /* plus the number of a group: no built-in's number */\n\
              #define BRUNT_GROUP_DOM_EXCEPTION 5\n\
              static JSValue brunt_make(JSContext *ctx, int group, JSAtom except);\n\
              int brunt_need(JSContext *ctx, int group);\n\
              static JSValue js_bytecode_autoinit(JSContext *ctx, JSObject *p, JSAtom atom,\n                                    \
              void *opaque)\n{\n    \
              if ((uintptr_t)opaque >= BRUNT_GROUP_TAG)\n        \
              return brunt_make(ctx, (uintptr_t)opaque - BRUNT_GROUP_TAG, atom);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    void *user_opaque;\n};\n\ntypedef union JSFloat64Union",
        put: "    void *user_opaque;\n    \
              uint32_t brunt_made, brunt_failed; /* bit n: group n of the globals */\n\
              };\n\ntypedef union JSFloat64Union",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    assert(JS_IsRegisteredClass(ctx->rt, JS_CLASS_DOM_EXCEPTION));\n",
        put: "    if (brunt_need(ctx, BRUNT_GROUP_DOM_EXCEPTION))\n        return JS_EXCEPTION;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (!JS_IsRegisteredClass(ctx->rt, JS_CLASS_DOM_EXCEPTION)) {\n        \
               if (JS_AddIntrinsicDOMException(ctx))\n            return -1;\n    }\n    \
               JS_SetPropertyFunctionList(ctx, ctx->global_obj,",
        put: "    JS_SetPropertyFunctionList(ctx, ctx->global_obj,",
        times: 1,
    },
    // Stacks as k6 prints them: `Name: message`, then lines of `\tat function (file:///path:line:column(pc))`.
    Adjustment {
        file: "quickjs.c",
        find: "dbuf_printf(&dbuf, \"    at %s\"",
        put: "dbuf_printf(&dbuf, \"\\tat %s\"",
        times: 2,
    },
    Adjustment {
        file: "quickjs.c",
        find: "dbuf_printf(&dbuf, \":%d:%d\", line_num1, col_num1);",
        put: "dbuf_printf(&dbuf, \":%d:%d(%u)\", line_num1, col_num1, pc);",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        js_dbuf_init(ctx, &dbuf);\n        if (stack_trace_limit == 0)",
        put: "        js_dbuf_init(ctx, &dbuf);\n        brunt_stack_head(ctx, &dbuf, error_obj);\n        brunt_head = dbuf.size;\n        \
              if (stack_trace_limit == 0)",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static void build_backtrace(JSContext *ctx, JSValueConst error_val,\n                            \
               JSValueConst filter_func, const char *filename,\n                            \
               int line_num, int col_num, int backtrace_flags)\n{",
        put: STACK_HEAD,
        times: 1,
    },
    // While own properties are listed, a class of ours is asked for its computed ones; that may run a script, which may
    // change the object whose properties were already counted.
    Adjustment {
        file: "quickjs.c",
        find: "    /* fill them */\n\n    atom_count =",
        put: RECOUNT,
        times: 1,
    },
];

/// Writes the first line of a stack. It reads plain properties and lets no exception of theirs escape.
const STACK_HEAD: &str = r#"
static void brunt_stack_part(JSContext *ctx, DynBuf *dbuf, JSValueConst error, JSAtom prop, const char *before)
{
    JSValue value = JS_GetProperty(ctx, error, prop);
    if (JS_IsString(value)) {
        size_t len = 0;
        const char *text = JS_ToCStringLen(ctx, &len, value);
        if (text && len > 0) {
            dbuf_putstr(dbuf, before);
            dbuf_put(dbuf, (const uint8_t *)text, len);
        }
        JS_FreeCString(ctx, text);
    }
    if (JS_IsException(value))
        JS_FreeValue(ctx, JS_GetException(ctx));
    JS_FreeValue(ctx, value);
}

static int JS_DefineAutoInitProperty(JSContext *ctx, JSValueConst this_obj,
                                     JSAtom prop, JSAutoInitIDEnum id,
                                     void *opaque, int flags);

/* Lets an error keep its trace, of which the first `head` bytes are its first line. */
static void brunt_keep_stack(JSContext *ctx, JSObject *p, JSValue stack, size_t head)
{
    JSProperty *pr;
    JSShapeProperty *prs = find_own_property(&pr, p, JS_ATOM_stack);
    if (prs && (prs->flags & JS_PROP_TMASK) == JS_PROP_AUTOINIT) {
        pr->u.init.opaque = (void *)(uintptr_t)head;
        JS_FreeValue(ctx, stack);
    } else {
        JS_DefinePropertyValue(ctx, JS_MKPTR(JS_TAG_OBJECT, p), JS_ATOM_stack, stack,
                               JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    }
}

static void brunt_stack_head(JSContext *ctx, DynBuf *dbuf, JSValueConst error)
{
    JSValue saved;
    if (!JS_IsError(error))
        return;
    saved = JS_GetException(ctx);
    brunt_stack_part(ctx, dbuf, error, JS_ATOM_name, "");
    brunt_stack_part(ctx, dbuf, error, JS_ATOM_message, ": ");
    dbuf_putc(dbuf, '\n');
    JS_Throw(ctx, saved);
}

static void build_backtrace(JSContext *ctx, JSValueConst error_val,
                            JSValueConst filter_func, const char *filename,
                            int line_num, int col_num, int backtrace_flags)
{
    size_t brunt_head = 0;"#;

/// The engine's own loop of counting, once more.
const RECOUNT: &str = r"
    if (exotic_count > 0) {
        num_keys_count = 0;
        str_keys_count = 0;
        sym_keys_count = 0;
        sh = p->shape;
        for (i = 0, prs = get_shape_prop(sh); i < sh->prop_count; i++, prs++) {
            atom = prs->atom;
            if (atom == JS_ATOM_NULL)
                continue;
            is_enumerable = ((prs->flags & JS_PROP_ENUMERABLE) != 0);
            kind = JS_AtomGetKind(ctx, atom);
            if ((!(flags & JS_GPN_ENUM_ONLY) || is_enumerable) && ((flags >> kind) & 1) != 0) {
                if (JS_AtomIsArrayIndex(ctx, &num_key, atom))
                    num_keys_count++;
                else if (kind == JS_ATOM_KIND_STRING)
                    str_keys_count++;
                else
                    sym_keys_count++;
            }
        }
    }

    atom_count =";
