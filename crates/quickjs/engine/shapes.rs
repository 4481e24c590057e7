//! Object shapes that outlive their objects. A VU's iteration makes the same few objects each time: the literals of its
//! params and checks, the functions in them. When the last object of a shape goes, the engine drops the shape, so that
//! each iteration would build the same shapes anew, property by property.

use super::adjustments::Adjustment;

pub(crate) const SHAPES: &[Adjustment] = &[
    // Shapes whose last object went wait in a ring for the next object, if the runtime is told to keep them.
    Adjustment {
        file: "quickjs.c",
        find: "    int shape_hash_count; /* number of hashed shapes */\n",
        put: "    int shape_hash_count; /* number of hashed shapes */\n    \
              JSShape *brunt_kept_shapes[16];\n    uint8_t brunt_next_shape;\n    bool brunt_keeps_shapes;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (unlikely(--JS_REF_COUNT(sh) <= 0)) {\n        js_free_shape0(rt, sh);\n",
        put: "    if (unlikely(--JS_REF_COUNT(sh) <= 0)) {\n        \
              if (rt->brunt_keeps_shapes && brunt_keep_shape(rt, sh))\n            return;\n        \
              js_free_shape0(rt, sh);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static void js_free_shape(JSRuntime *rt, JSShape *sh)\n{\n",
        put: "static bool brunt_keep_shape(JSRuntime *rt, JSShape *sh);\n\
              static void js_free_shape(JSRuntime *rt, JSShape *sh)\n{\n",
        times: 1,
    },
    // A kept shape can only be found step by step: each step of a small object stays a shape of its own instead of
    // becoming the next one.
    Adjustment {
        file: "quickjs.c",
        find: "        } else if (JS_REF_COUNT(sh) != 1) {\n            /* if the shape is shared, clone it */\n",
        put: "        } else if (JS_REF_COUNT(sh) != 1 ||\n                   \
              (ctx->rt->brunt_keeps_shapes && sh->prop_count <= 8)) {\n            \
              /* if the shape is shared, clone it */\n",
        times: 1,
    },
    // The collector must see only references that lie in objects.
    Adjustment {
        file: "quickjs.c",
        find: "void JS_RunGC(JSRuntime *rt)\n{\n",
        put: "static void brunt_drop_shapes(JSRuntime *rt);\n\
              void JS_RunGC(JSRuntime *rt)\n{\n    brunt_drop_shapes(rt);\n",
        times: 1,
    },
    // Functions are made with `length` and `name` at once.
    Adjustment {
        file: "quickjs.c",
        find: "    JSShape *array_shape;   /* initial shape for Array objects */\n",
        put: "    JSShape *array_shape;   /* initial shape for Array objects */\n    \
              JSShape *brunt_function_shape; /* of functions with only length and name; made at the first */\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (ctx->array_shape)\n        mark_func(rt, &ctx->array_shape->header);\n",
        put: "    if (ctx->array_shape)\n        mark_func(rt, &ctx->array_shape->header);\n    \
              if (ctx->brunt_function_shape)\n        mark_func(rt, &ctx->brunt_function_shape->header);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    js_free_shape_null(ctx->rt, ctx->array_shape);\n",
        put: "    js_free_shape_null(ctx->rt, ctx->array_shape);\n    \
              js_free_shape_null(ctx->rt, ctx->brunt_function_shape);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static JSValue js_closure(JSContext *ctx, JSValue bfunc,\n                          \
               JSVarRef **cur_var_refs,\n                          JSStackFrame *sf)\n{\n",
        put: "static JSValue brunt_new_function(JSContext *ctx, JSFunctionBytecode *b);\n\
              static JSValue js_closure(JSContext *ctx, JSValue bfunc,\n                          \
              JSVarRef **cur_var_refs,\n                          JSStackFrame *sf)\n{\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    func_obj = JS_NewObjectClass(ctx, func_kind_to_class_id[b->func_kind]);\n    \
               if (JS_IsException(func_obj)) {\n        JS_FreeValue(ctx, bfunc);\n        return JS_EXCEPTION;\n    }\n    \
               func_obj = js_closure2(ctx, func_obj, b, cur_var_refs, sf);\n",
        put: "    if (b->func_kind == JS_FUNC_NORMAL)\n        func_obj = brunt_new_function(ctx, b);\n    else\n        \
              func_obj = JS_NewObjectClass(ctx, func_kind_to_class_id[b->func_kind]);\n    \
              if (JS_IsException(func_obj)) {\n        JS_FreeValue(ctx, bfunc);\n        return JS_EXCEPTION;\n    }\n    \
              func_obj = js_closure2(ctx, func_obj, b, cur_var_refs, sf);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    js_function_set_properties(ctx, func_obj, name_atom,\n                               \
               b->defined_arg_count);\n\n    if (b->func_kind & JS_FUNC_GENERATOR) {\n",
        put: "    if (b->func_kind != JS_FUNC_NORMAL)\n        js_function_set_properties(ctx, func_obj, name_atom,\n                                   \
              b->defined_arg_count);\n\n    if (b->func_kind & JS_FUNC_GENERATOR) {\n",
        times: 1,
    },
    // ...and a nameless one that is the value of a property or variable gets its name in place.
    Adjustment {
        file: "quickjs.c",
        find: "static int JS_DefineObjectName(JSContext *ctx, JSValue obj,\n                               \
               JSAtom name, int flags)\n{\n",
        put: "static bool brunt_name_function(JSContext *ctx, JSValue obj, JSAtom name, int flags);\n\
              static int JS_DefineObjectName(JSContext *ctx, JSValue obj,\n                               \
              JSAtom name, int flags)\n{\n    if (brunt_name_function(ctx, obj, name, flags))\n        return 0;\n",
        times: 1,
    },
];
