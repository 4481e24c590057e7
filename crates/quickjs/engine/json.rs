//! `JSON.stringify` of plain data in one go; `JSON.stringify` that asks Rust about what JSON does not have; messages as k6
//! has them. `json.c` has the functions.

use super::adjustments::Adjustment;

pub(crate) const JSON: &[Adjustment] = &[
    Adjustment {
        file: "quickjs.c",
        find: "JSValue JS_JSONStringify(JSContext *ctx, JSValueConst obj,\n                         \
               JSValueConst replacer, JSValueConst space0)\n{\n",
        put: "static JSValue brunt_json(JSContext *ctx, JSValueConst value);\n\n\
              JSValue JS_JSONStringify(JSContext *ctx, JSValueConst obj,\n                         \
              JSValueConst replacer, JSValueConst space0)\n{\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    int64_t i, j, n;\n\n    jsc->replacer_func = JS_UNDEFINED;\n    jsc->stack = JS_UNDEFINED;\n",
        put: "    int64_t i, j, n;\n\n    \
              jsc->brunt_asked = brunt_asked;\n    brunt_asked = NULL;\n    jsc->brunt_leaks = 0;\n    \
              if (JS_IsUndefined(replacer) && JS_IsUndefined(space0)) {\n        \
              ret = brunt_json(ctx, obj);\n        if (!JS_IsUninitialized(ret))\n            return ret;\n    }\n    \
              jsc->replacer_func = JS_UNDEFINED;\n    jsc->stack = JS_UNDEFINED;\n",
        times: 1,
    },
    // Of objects that are neither plain nor arrays, Rust may keep what it likes: in their place stands a number then,
    // between two bytes 1, which JSON writes as \u0001 everywhere else.
    Adjustment {
        file: "quickjs.c",
        find: "    StringBuffer *b;\n} JSONStringifyContext;\n",
        put: "    StringBuffer *b;\n    struct BruntAsked *brunt_asked; /* NULL: nobody is asked */\n    \
              int brunt_leaks; /* empty ones so far in the innermost object or array */\n} JSONStringifyContext;\n\n\
              typedef struct BruntAsked {\n    int (*ask)(void *opaque, JSValueConst val);\n    void *opaque;\n} BruntAsked;\n\n\
              /* whom the next JS_JSONStringify of this thread asks; those within it do not */\n\
              static _Thread_local BruntAsked *brunt_asked;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        v = js_array_includes(ctx, jsc->stack, 1, vc(&val));\n        if (JS_IsException(v))\n            goto exception;\n        \
               if (JS_ToBoolFree(ctx, v)) {\n            JS_ThrowTypeError(ctx, \"circular reference\");\n",
        put: "        if (jsc->brunt_asked && cl != JS_CLASS_OBJECT && cl != JS_CLASS_ARRAY) {\n            \
              ret = jsc->brunt_asked->ask(jsc->brunt_asked->opaque, val);\n            \
              if (ret == -2)\n                goto exception;\n            \
              if (ret >= 0) {\n                char mark[16];\n                \
              snprintf(mark, sizeof(mark), \"\\001%d\\001\", ret);\n                \
              JS_FreeValue(ctx, val);\n                \
              return string_buffer_write8(jsc->b, (const uint8_t *)mark, strlen(mark));\n            }\n        }\n        \
              v = js_array_includes(ctx, jsc->stack, 1, vc(&val));\n        if (JS_IsException(v))\n            goto exception;\n        \
              if (JS_ToBoolFree(ctx, v)) {\n            JS_ThrowTypeError(ctx, \"Converting circular structure to JSON\");\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "\"BigInt are forbidden in JSON.stringify\"",
        put: "\"Do not know how to serialize a BigInt\"",
        times: 1,
    },
    // With indentation, k6 never steps back from what is empty: the lines within its later siblings stand one gap deeper.
    Adjustment {
        file: "quickjs.c",
        find: "static int js_json_to_str(JSContext *ctx, JSONStringifyContext *jsc,\n                          \
               JSValueConst holder, JSValue val,\n                          JSValueConst indent)\n{\n    \
               JSValue indent1, sep, sep1, tab, v, prop;\n",
        put: "/* beyond this many, nobody would read the lines anyway */\n#define BRUNT_LEAKS_MAX 100\n\n\
              static JSValue brunt_deeper(JSContext *ctx, JSValueConst indent, JSValueConst gap, int leaks)\n{\n    \
              StringBuffer b_s, *b = &b_s;\n    \
              if (leaks == 0 || JS_IsEmptyString(gap))\n        return js_dup(indent);\n    \
              if (string_buffer_init(ctx, b, 0))\n        return JS_EXCEPTION;\n    \
              string_buffer_concat_value(b, indent);\n    \
              while (leaks-- > 0)\n        string_buffer_concat_value(b, gap);\n    \
              return string_buffer_end(b);\n}\n\n\
              static int js_json_to_str(JSContext *ctx, JSONStringifyContext *jsc,\n                          \
              JSValueConst holder, JSValue val,\n                          JSValueConst indent)\n{\n    \
              int brunt_leaks;\n    JSValue brunt_indent = JS_UNDEFINED;\n    \
              JSValue indent1, sep, sep1, tab, v, prop;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        indent1 = JS_ConcatString(ctx, js_dup(indent), js_dup(jsc->gap));\n",
        put: "        brunt_leaks = jsc->brunt_leaks;\n        jsc->brunt_leaks = 0;\n        \
              brunt_indent = brunt_deeper(ctx, indent, jsc->gap, brunt_leaks);\n        \
              if (JS_IsException(brunt_indent))\n            goto exception;\n        \
              indent1 = JS_ConcatString(ctx, js_dup(brunt_indent), js_dup(jsc->gap));\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "                string_buffer_concat_value(jsc->b, indent);\n",
        put: "                string_buffer_concat_value(jsc->b, brunt_indent);\n",
        times: 2,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        if (check_exception_free(ctx, js_array_pop(ctx, jsc->stack, 0, NULL, 0)))\n            goto exception;\n        \
               JS_FreeValue(ctx, val);\n",
        put: "        jsc->brunt_leaks = brunt_leaks;\n        \
              if (!(ret ? len > 0 : has_content) && brunt_leaks < BRUNT_LEAKS_MAX)\n            jsc->brunt_leaks++;\n        \
              if (check_exception_free(ctx, js_array_pop(ctx, jsc->stack, 0, NULL, 0)))\n            goto exception;\n        \
              JS_FreeValue(ctx, brunt_indent);\n        JS_FreeValue(ctx, val);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "exception:\n    JS_FreeValue(ctx, val);\n    JS_FreeValue(ctx, tab);\n    JS_FreeValue(ctx, sep);\n",
        put: "exception:\n    JS_FreeValue(ctx, brunt_indent);\n    JS_FreeValue(ctx, val);\n    JS_FreeValue(ctx, tab);\n    \
              JS_FreeValue(ctx, sep);\n",
        times: 1,
    },
];
