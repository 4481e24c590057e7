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
    // 31 size classes of 4 KiB for each runtime are 57 kB of mostly empty arenas for each VU.
    Adjustment {
        file: "quickjs.c",
        find: "#define JS_ARENA_SIZE              4096",
        put: "#define JS_ARENA_SIZE              1024",
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
        put: "        js_dbuf_init(ctx, &dbuf);\n        brunt_stack_head(ctx, &dbuf, error_obj);\n        \
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
{"#;

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
