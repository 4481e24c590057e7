//! Frozen arrays that stay arrays. The engine freezes an array by making each element a property with a name, which takes
//! longer than parsing it and makes every later read a search. Elements of a `SharedArray` are frozen at each read. So a
//! frozen array keeps its elements where they are, and a bit says that they are read-only; whatever the engine cannot do
//! without properties makes them after all (`convert_fast_array_to_array`), then with the right attributes.

use super::adjustments::Adjustment;

pub(crate) const FROZEN: &[Adjustment] = &[
    Adjustment {
        file: "quickjs.c",
        find: "    uint8_t is_HTMLDDA : 1; /* specific annex B IsHtmlDDA behavior */\n",
        put: "    uint8_t is_HTMLDDA : 1; /* specific annex B IsHtmlDDA behavior */\n    \
              uint8_t brunt_frozen : 1; /* the elements of this fast array are read-only */\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    p->is_HTMLDDA = 0;\n",
        put: "    p->is_HTMLDDA = 0;\n    p->brunt_frozen = 0;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            pr = add_property(ctx, p, __JS_AtomFromUInt32(i), JS_PROP_C_W_E);\n            pr->u.value = *tab++;\n",
        put: "            pr = add_property(ctx, p, __JS_AtomFromUInt32(i),\n                              \
              p->brunt_frozen ? JS_PROP_ENUMERABLE : JS_PROP_C_W_E);\n            pr->u.value = *tab++;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    p->fast_array = 0;\n    return 0;\n",
        put: "    p->fast_array = 0;\n    p->brunt_frozen = 0;\n    return 0;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "                        desc->flags = JS_PROP_WRITABLE | JS_PROP_ENUMERABLE |\n                            JS_PROP_CONFIGURABLE;\n                        \
               desc->getter = JS_UNDEFINED;\n                        desc->setter = JS_UNDEFINED;\n                        desc->value = JS_GetPropertyUint32",
        put: "                        desc->flags = p->brunt_frozen ? JS_PROP_ENUMERABLE : JS_PROP_C_W_E;\n                        \
              desc->getter = JS_UNDEFINED;\n                        desc->setter = JS_UNDEFINED;\n                        desc->value = JS_GetPropertyUint32",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "                        *pflags = JS_PROP_WRITABLE | JS_PROP_ENUMERABLE |\n                            JS_PROP_CONFIGURABLE;\n",
        put: "                        *pflags = p->brunt_frozen ? JS_PROP_ENUMERABLE : JS_PROP_C_W_E;\n",
        times: 1,
    },
    // Writes.
    Adjustment {
        file: "quickjs.c",
        find: "            set_value(ctx, &p->u.array.u.values[idx], val);\n            break;\n        case JS_CLASS_ARGUMENTS:\n",
        put: "            if (unlikely(p->brunt_frozen)) {\n                JS_FreeValue(ctx, val);\n                \
              return JS_ThrowTypeErrorReadOnly(ctx, flags, __JS_AtomFromUInt32(idx));\n            }\n            \
              set_value(ctx, &p->u.array.u.values[idx], val);\n            break;\n        case JS_CLASS_ARGUMENTS:\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "                        if (likely(p->class_id == JS_CLASS_ARRAY &&\n                                   \
               idx < (uint32_t)p->u.array.count)) {\n                            set_value(",
        put: "                        if (likely(p->class_id == JS_CLASS_ARRAY && !p->brunt_frozen &&\n                                   \
              idx < (uint32_t)p->u.array.count)) {\n                            set_value(",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "                    if (prop_flags != JS_PROP_C_W_E)\n                        goto convert_to_slow_array;\n",
        put: "                    if (p->brunt_frozen || prop_flags != JS_PROP_C_W_E)\n                        \
              goto convert_to_slow_array;\n",
        times: 1,
    },
    // pop() and shift(), reverse(), and what moves elements.
    Adjustment {
        file: "quickjs.c",
        find: "        if (js_get_fast_array(ctx, obj, &arrp, &count32) && count32 == len) {\n            \
               JSObject *p = JS_VALUE_GET_OBJ(obj);\n            if (shift) {\n",
        put: "        if (js_get_fast_array(ctx, obj, &arrp, &count32) && count32 == len &&\n            \
              !JS_VALUE_GET_OBJ(obj)->brunt_frozen) {\n            \
              JSObject *p = JS_VALUE_GET_OBJ(obj);\n            if (shift) {\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (js_get_fast_array(ctx, obj, &arrp, &count32) && count32 == len) {\n        uint32_t ll, hh;\n",
        put: "    if (js_get_fast_array(ctx, obj, &arrp, &count32) && count32 == len &&\n        \
              !JS_VALUE_GET_OBJ(obj)->brunt_frozen) {\n        uint32_t ll, hh;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        if (p->class_id != JS_CLASS_ARRAY || !p->fast_array) {\n            p = NULL;\n",
        put: "        if (p->class_id != JS_CLASS_ARRAY || !p->fast_array || p->brunt_frozen) {\n            p = NULL;\n",
        times: 1,
    },
    // Object.freeze()
    Adjustment {
        file: "quickjs.c",
        find: "            return JS_ThrowTypeError(ctx, \"cannot freeze resizable typed array\");\n    }\n",
        put: "            return JS_ThrowTypeError(ctx, \"cannot freeze resizable typed array\");\n    }\n    \
              if (freeze_flag && p->class_id == JS_CLASS_ARRAY && p->fast_array && p->shape->prop_count == 1) {\n        \
              p->brunt_frozen = 1;\n        \
              if (JS_DefineProperty(ctx, obj, JS_ATOM_length, JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED,\n                              \
              JS_PROP_THROW | JS_PROP_HAS_CONFIGURABLE | JS_PROP_HAS_WRITABLE) < 0)\n            \
              return JS_EXCEPTION;\n        return js_dup(obj);\n    }\n",
        times: 1,
    },
];
