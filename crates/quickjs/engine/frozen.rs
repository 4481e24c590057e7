//! Frozen arrays that stay arrays. The engine freezes an array by making each element a property with a name, which takes
//! longer than parsing it and makes every later read a search. Elements of a `SharedArray` are frozen at each read. So a
//! frozen array keeps its elements where they are, and a bit says that they are read-only; whatever the engine cannot do
//! without properties makes them after all (`convert_fast_array_to_array`), then with the right attributes.
//!
//! And typed arrays over immutable buffers, which the engine refuses to write to but shows as if that went well: as the
//! proposal "Immutable ArrayBuffers" has it their elements are read-only properties, writing to one throws in strict code,
//! and they can be frozen.

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
        put: "                        desc->flags = brunt_is_frozen(p) ? JS_PROP_ENUMERABLE : JS_PROP_C_W_E;\n                        \
              desc->getter = JS_UNDEFINED;\n                        desc->setter = JS_UNDEFINED;\n                        desc->value = JS_GetPropertyUint32",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "                        *pflags = JS_PROP_WRITABLE | JS_PROP_ENUMERABLE |\n                            JS_PROP_CONFIGURABLE;\n",
        put: "                        *pflags = brunt_is_frozen(p) ? JS_PROP_ENUMERABLE : JS_PROP_C_W_E;\n",
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
    // Typed arrays over immutable buffers.
    Adjustment {
        file: "quickjs.c",
        find: "static bool typed_array_is_oob(JSObject *p);\n",
        put: "static bool typed_array_is_oob(JSObject *p);\nstatic bool brunt_is_frozen(JSObject *p);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            ta_immutable:\n                return false;\n",
        put: "            ta_immutable:\n                \
              return JS_ThrowTypeErrorReadOnly(ctx, flags, __JS_AtomFromUInt32(idx));\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            prop_flags = get_prop_flags(flags, JS_PROP_ENUMERABLE | JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);\n",
        put: "            if (unlikely(brunt_is_frozen(p))) {\n                bool is_same = true;\n                \
              if (flags & JS_PROP_HAS_VALUE) {\n                    \
              JSValue now = JS_GetPropertyUint32(ctx, this_obj, idx);\n                    \
              is_same = js_same_value(ctx, now, val);\n                    JS_FreeValue(ctx, now);\n                }\n                \
              if (!is_same || (flags & (JS_PROP_HAS_GET | JS_PROP_HAS_SET)) ||\n                    \
              get_prop_flags(flags, JS_PROP_ENUMERABLE) != JS_PROP_ENUMERABLE)\n                    \
              return JS_ThrowTypeErrorOrFalse(ctx, flags, \"property is not configurable\");\n                \
              return true;\n            }\n            \
              prop_flags = get_prop_flags(flags, JS_PROP_ENUMERABLE | JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);\n",
        times: 1,
    },
    // Nothing to do for each of the elements, of which there may be millions.
    Adjustment {
        file: "quickjs.c",
        find: "            return JS_ThrowTypeError(ctx, \"cannot freeze resizable typed array\");\n    }\n    if (freeze_flag && p->class_id == JS_CLASS_ARRAY",
        put: "            return JS_ThrowTypeError(ctx, \"cannot freeze resizable typed array\");\n        \
              if (abuf->immutable == 1 && p->shape->prop_count == 0)\n            return js_dup(obj);\n    }\n    \
              if (freeze_flag && p->class_id == JS_CLASS_ARRAY",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (!JS_IsObject(obj))\n        return JS_TRUE;\n\n    p = JS_VALUE_GET_OBJ(obj);\n    flags = JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK;\n",
        put: "    if (!JS_IsObject(obj))\n        return JS_TRUE;\n\n    p = JS_VALUE_GET_OBJ(obj);\n    \
              if (is_typed_array(p->class_id) && brunt_is_frozen(p) && p->shape->prop_count == 0)\n        \
              return js_bool(!p->extensible);\n    flags = JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK;\n",
        times: 1,
    },
];
