//! Compiles QuickJS-NG from the C sources of the `rquickjs-sys` package, with the few adjustments that Brunt needs.
//!
//! The package is never built as a crate (its manifest entry stands under a target that does not exist); Cargo only
//! fetches it, and its metadata tells where the sources lie. Nothing of them is committed here. Each adjustment names
//! text that must occur exactly as often as it says: a new version of the package that changed the place fails
//! the build instead of being patched wrongly.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const SOURCES: [&str; 4] = ["quickjs.c", "libregexp.c", "libunicode.c", "dtoa.c"];

/// One change of the C sources: in `file`, `find` occurs `times` times and becomes `put`.
struct Adjustment {
    file: &'static str,
    find: &'static str,
    put: &'static str,
    times: usize,
}

const ADJUSTMENTS: [Adjustment; 19] = [
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
    // A function without a name has no brackets around its place: `\tat file:///path:line:column(pc)`.
    Adjustment {
        file: "quickjs.c",
        find: "dbuf_printf(&dbuf, \"\\tat %s\", str1);\n",
        put: "bool brunt_named = func_name_str && func_name_str[0] && strcmp(func_name_str, \"<eval>\");\n            \
              dbuf_printf(&dbuf, \"\\tat %s\", brunt_named ? str1 : b && sf->cur_pc ? \"\" : \"<anonymous>\");\n",
        times: 1,
    },
    // Each place is told as one in its author's file.
    Adjustment {
        file: "quickjs.c",
        find: r#"                atom_str = b->filename ? JS_AtomToCString(ctx, b->filename) : NULL;
                dbuf_printf(&dbuf, " (%s""#,
        put: r#"                atom_str = b->filename ? JS_AtomToCString(ctx, b->filename) : NULL;
                BruntPlace *brunt_ask = __atomic_load_n(&brunt_place, __ATOMIC_RELAXED);
                const char *brunt_file = NULL;
                if (brunt_ask && atom_str && line_num1 != -1)
                    brunt_file = brunt_ask(rt, atom_str, &line_num1, &col_num1);
                dbuf_printf(&dbuf, " (%s""#,
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "dbuf_printf(&dbuf, \" (%s\", atom_str ? atom_str : \"<null>\");",
        put: "dbuf_printf(&dbuf, brunt_named ? \" (%s\" : \"%s\", brunt_file ? brunt_file : atom_str ? atom_str : \"<null>\");",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "line_num1, col_num1, pc);\n                dbuf_putc(&dbuf, ')');",
        put: "line_num1, col_num1, pc);\n                if (brunt_named)\n                    \
              dbuf_putc(&dbuf, ')');",
        times: 1,
    },
    // The column of a token is its own, not that of the last blank before it.
    Adjustment {
        file: "quickjs.c",
        find: r#"    s->token.col_num = max_int(1, s->mark - s->eol);
    s->buf_ptr = p;"#,
        put: r#"    s->token.col_num =
        s->token.ptr >= s->token.line_start ? (int)(s->token.ptr - s->token.line_start) + 1 : 1;
    s->buf_ptr = p;"#,
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r#"    sp->line_start = s->line_start;"#,
        put: r#"    sp->line_start = s->token.line_start;"#,
        times: 1,
    },
    // A call stands where its bracket opens, `new X()` at `new`, as in k6: not at the last operand of an argument.
    Adjustment {
        file: "quickjs.c",
        find: r#"    bool accept_lparen = (parse_flags & PF_POSTFIX_CALL) != 0;"#,
        put: r#"    bool accept_lparen = (parse_flags & PF_POSTFIX_CALL) != 0;
    int brunt_line = s->token.line_num;
    int brunt_col = s->token.col_num;"#,
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r#"            /* function call */
        parse_func_call:
            if (next_token(s))"#,
        put: r#"            /* function call */
        parse_func_call:
            if (call_type != FUNC_CALL_NEW) {
                brunt_line = s->token.line_num;
                brunt_col = s->token.col_num;
            }
            if (next_token(s))"#,
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r#"            parse_func_call2:
                emit_source_loc(s);"#,
        put: r#"            parse_func_call2:
                if (call_type == FUNC_CALL_TEMPLATE) {
                    brunt_line = s->token.line_num;
                    brunt_col = s->token.col_num;
                }"#,
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r#"                /* apply function call */
                switch(opcode) {"#,
        put: r#"                /* apply function call */
                emit_source_loc_at(s, brunt_line, brunt_col);
                switch(opcode) {"#,
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r#"            emit_func_call:
                switch(opcode) {"#,
        put: r#"            emit_func_call:
                emit_source_loc_at(s, brunt_line, brunt_col);
                switch(opcode) {"#,
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: r#"                emit_op(s, OP_dup);
                emit_op(s, OP_call_constructor);
                emit_u16(s, 0);"#,
        put: r#"                emit_op(s, OP_dup);
                emit_source_loc_at(s, brunt_line, brunt_col);
                emit_op(s, OP_call_constructor);
                emit_u16(s, 0);"#,
        times: 1,
    },
    // What `throw` throws, if it is no error, is thrown where the word stands.
    Adjustment {
        file: "quickjs.c",
        find: r#"    case TOK_THROW:
        if (next_token(s))
            goto fail;
        if (s->got_lf) {
            js_parse_error(s, "line terminator not allowed after throw");
            goto fail;
        }
        emit_source_loc(s);
        if (js_parse_expr(s))
            goto fail;
"#,
        put: r#"    case TOK_THROW: {
        int brunt_line = s->token.line_num;
        int brunt_col = s->token.col_num;
        if (next_token(s))
            goto fail;
        if (s->got_lf) {
            js_parse_error(s, "line terminator not allowed after throw");
            goto fail;
        }
        if (js_parse_expr(s))
            goto fail;
        emit_source_loc_at(s, brunt_line, brunt_col);
        }
"#,
        times: 1,
    },
    // A property that is read stands where its name does.
    Adjustment {
        file: "quickjs.c",
        find: r#"                    emit_op(s, OP_get_field);
                    emit_atom(s, s->token.u.ident.atom);
                }
            }
            if (next_token(s))"#,
        put: r#"                    emit_source_loc(s);
                    emit_op(s, OP_get_field);
                    emit_atom(s, s->token.u.ident.atom);
                }
            }
            if (next_token(s))"#,
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
];

/// Writes the first line of a stack. It reads plain properties and lets no exception of theirs escape.
const STACK_HEAD: &str = r#"
typedef const char *BruntPlace(JSRuntime *rt, const char *file, int *line, int *col);
static BruntPlace *brunt_place;

void brunt_set_place(BruntPlace *place)
{
    __atomic_store_n(&brunt_place, place, __ATOMIC_RELAXED);
}

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

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CARGO_CFG_SANITIZE");
    let package = package_dir();
    let from = package.join("quickjs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));

    for entry in fs::read_dir(&from).expect("the package has its quickjs folder") {
        let path = entry.expect("a readable folder").path();
        let is_source = path.extension().is_some_and(|end| end == "c" || end == "h");
        if is_source {
            let name = path.file_name().and_then(|name| name.to_str()).expect("ASCII file names");
            let text = fs::read_to_string(&path).expect("C sources are UTF-8");
            fs::write(out.join(name), adjust(name, text)).expect("OUT_DIR is writable");
        }
    }

    let mut build = cc::Build::new();
    build.include(&out).define("_GNU_SOURCE", None).warnings(false).opt_level(3);
    build.flag_if_supported("-std=gnu11").flag_if_supported("-fwrapv");
    build.flag_if_supported("-fno-math-errno").flag_if_supported("-funsigned-char");
    if env::var("PROFILE").as_deref() == Ok("release") {
        // Debug builds keep the engine's assertions: a value that is not freed aborts there.
        build.define("NDEBUG", None);
    }
    if env::var("CARGO_CFG_SANITIZE").is_ok_and(|kind| kind.contains("address")) {
        build.flag("-fsanitize=address").flag("-fno-omit-frame-pointer");
    }
    for source in SOURCES {
        build.file(out.join(source));
    }
    build.compile("quickjs");
}

fn adjust(name: &str, mut text: String) -> String {
    for Adjustment { file, find, put, times } in ADJUSTMENTS {
        if file == name {
            let found = text.matches(find).count();
            assert!(found == times, "{file}: `{find}` occurs {found} times, not {times}");
            text = text.replace(find, put);
        }
    }
    text
}

/// Where Cargo keeps the sources of `rquickjs-sys`.
fn package_dir() -> PathBuf {
    let cargo = env::var_os("CARGO").expect("Cargo sets CARGO");
    let manifest =
        Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it")).join("Cargo.toml");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(manifest)
        .output()
        .expect("cargo metadata runs");
    assert!(
        output.status.success(),
        "cargo metadata failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let manifest = metadata["packages"]
        .as_array()
        .and_then(|all| all.iter().find(|package| package["name"] == "rquickjs-sys"))
        .and_then(|package| package["manifest_path"].as_str())
        .expect("rquickjs-sys is in the lock file");
    Path::new(manifest).parent().expect("a manifest lies in a folder").to_owned()
}
