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
              jsc->brunt_asked = brunt_asked;\n    brunt_asked = NULL;\n    \
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
        put: "    StringBuffer *b;\n    struct BruntAsked *brunt_asked; /* NULL: nobody is asked */\n} JSONStringifyContext;\n\n\
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
];
