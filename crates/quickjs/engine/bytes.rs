//! Byte work as scripts do it: `new Uint8Array(array)`, `bytes.set(array)`, `array.push(...bytes)`. Where no script can see
//! the difference the elements are taken at once, without an iterator. `bytes.c` has the functions.

use super::adjustments::Adjustment;

pub(crate) const BYTES: &[Adjustment] = &[
    Adjustment {
        file: "quickjs.c",
        find: "static __exception int js_append_enumerate(JSContext *ctx, JSValue *sp)\n{\n",
        put: "static bool brunt_is_numbers(JSContext *ctx, JSValueConst obj, JSValueConst iterator, uint32_t *len);\n\
              static uint32_t brunt_store_bytes(JSContext *ctx, JSValueConst to, int64_t offset, JSValueConst from, int64_t len);\n\
              static int brunt_spread(JSContext *ctx, JSValueConst to, uint32_t *at, JSValueConst from, JSValueConst iterator);\n\n\
              static __exception int js_append_enumerate(JSContext *ctx, JSValue *sp)\n{\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "                                       JS_ITERATOR_KIND_VALUE);\n    JS_FreeValue(ctx, iterator);\n\n    \
               enumobj = JS_GetIterator(ctx, sp[-1], false);\n",
        put: "                                       JS_ITERATOR_KIND_VALUE);\n    \
              i = brunt_spread(ctx, sp[-3], &pos, sp[-1], iterator);\n    \
              JS_FreeValue(ctx, iterator);\n    if (i != 0) {\n        sp[-2] = js_int32(pos);\n        \
              return i == 1 ? 0 : -1;\n    }\n\n    \
              enumobj = JS_GetIterator(ctx, sp[-1], false);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        arr = js_array_from_iterator(ctx, &len1, obj, iter);\n        JS_FreeValue(ctx, iter);\n        \
               if (JS_IsException(arr))\n            goto fail;\n        len = len1;\n",
        put: "        if (brunt_is_numbers(ctx, obj, iter, &len1))\n            arr = js_dup(obj);\n        else\n            \
              arr = js_array_from_iterator(ctx, &len1, obj, iter);\n        JS_FreeValue(ctx, iter);\n        \
              if (JS_IsException(arr))\n            goto fail;\n        len = len1;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    for(i = 0; i < len; i++) {\n        val = JS_GetPropertyUint32(ctx, arr, i);\n        \
               if (JS_IsException(val))\n            goto fail;\n        if (JS_SetPropertyUint32(ctx, ret, i, val) < 0)\n",
        put: "    for(i = brunt_store_bytes(ctx, ret, 0, arr, len); i < len; i++) {\n        \
              val = JS_GetPropertyUint32(ctx, arr, i);\n        \
              if (JS_IsException(val))\n            goto fail;\n        if (JS_SetPropertyUint32(ctx, ret, i, val) < 0)\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    for(i = 0; i < src_len; i++) {\n        val = JS_GetPropertyUint32(ctx, src_obj, i);\n",
        put: "    for(i = brunt_store_bytes(ctx, dst, offset, src_obj, src_len); i < src_len; i++) {\n        \
              val = JS_GetPropertyUint32(ctx, src_obj, i);\n",
        times: 1,
    },
    // A call may have as many arguments as a file has bytes: k6 has no limit, and `push.apply(body, bytes)` is how form
    // data is put together there.
    Adjustment {
        file: "quickjs.c",
        find: "    if (len > JS_MAX_LOCAL_VARS) {\n        // XXX: check for stack overflow?\n        \
               JS_ThrowRangeError(ctx, \"too many arguments in function call (only %d allowed)\",\n                           \
               JS_MAX_LOCAL_VARS);\n",
        put: "    if (len > BRUNT_MAX_ARGUMENTS) {\n        \
              JS_ThrowRangeError(ctx, \"too many arguments in function call (only %d allowed)\",\n                           \
              BRUNT_MAX_ARGUMENTS);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "#define JS_MAX_LOCAL_VARS 65535\n",
        put: "#define JS_MAX_LOCAL_VARS 65535\n#define BRUNT_MAX_ARGUMENTS (1 << 24)\n",
        times: 1,
    },
];
