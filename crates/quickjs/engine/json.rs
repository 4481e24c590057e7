//! `JSON.stringify` of plain data in one go. `json.c` has the functions.

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
              if (JS_IsUndefined(replacer) && JS_IsUndefined(space0)) {\n        \
              ret = brunt_json(ctx, obj);\n        if (!JS_IsUninitialized(ret))\n            return ret;\n    }\n    \
              jsc->replacer_func = JS_UNDEFINED;\n    jsc->stack = JS_UNDEFINED;\n",
        times: 1,
    },
];
