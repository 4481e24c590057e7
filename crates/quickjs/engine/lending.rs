//! Buffers whose bytes somebody else holds too: a file that the process has once, a request body that is under way. Such
//! a buffer is lent; the first write makes its bytes its own (copy on write). It takes the places at which the engine
//! refuses writes to immutable buffers, which are all the places of writes, and adds those that it forgot.
//! `lending.c` has the two functions.

use super::adjustments::Adjustment;

pub(crate) const LENDING: &[Adjustment] = &[
    Adjustment {
        file: "quickjs.c",
        find: "static bool typed_array_is_immutable(JSObject *p);\n",
        put: "static bool typed_array_is_immutable(JSObject *p);\n\
              #define BRUNT_LENT 2 /* a value of JSArrayBuffer.immutable; 1 is a script's own doing */\n\
              #define BRUNT_LATE 3 /* another: the bytes are made when somebody looks at them; there are no views */\n\
              static bool brunt_is_immutable(JSArrayBuffer *abuf);\n\
              static bool brunt_look(JSContext *ctx, JSArrayBuffer *abuf);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    abuf = ta->buffer->u.array_buffer;\n    return abuf->immutable;\n",
        put: "    abuf = ta->buffer->u.array_buffer;\n    \
              return unlikely(abuf->immutable) && brunt_is_immutable(abuf);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    return js_bool(abuf->immutable);\n",
        put: "    return js_bool(abuf->immutable == 1);\n",
        times: 1,
    },
    // transfer(): the bytes become the new buffer's own.
    Adjustment {
        file: "quickjs.c",
        find: "    if (abuf->immutable)\n        return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n    \
               if (abuf->detached)\n        return JS_ThrowTypeErrorDetachedArrayBuffer(ctx);\n    pmax_len = NULL;\n",
        put: "    if (abuf->immutable && brunt_is_immutable(abuf))\n        \
              return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n    \
              if (abuf->detached)\n        return JS_ThrowTypeErrorDetachedArrayBuffer(ctx);\n    pmax_len = NULL;\n",
        times: 1,
    },
    // resize(): what is lent cannot be resized, and is told so further down.
    Adjustment {
        file: "quickjs.c",
        find: "    if (abuf->immutable)\n        return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n    \
               if (JS_ToInt64(ctx, &len, argv[0]))\n",
        put: "    if (abuf->immutable == 1)\n        return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n    \
              if (JS_ToInt64(ctx, &len, argv[0]))\n",
        times: 1,
    },
    // slice() only reads: the proposal lets it copy what is immutable, too.
    Adjustment {
        file: "quickjs.c",
        find: "    if (abuf->immutable)\n        return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n    \
               len = abuf->byte_length;\n",
        put: "    if (!brunt_look(ctx, abuf))\n        return JS_EXCEPTION;\n    len = abuf->byte_length;\n",
        times: 1,
    },
    // A view of what is made late.
    Adjustment {
        file: "quickjs.c",
        find: "    abuf = pbuffer->u.array_buffer;\n    ta->obj = p;\n",
        put: "    abuf = pbuffer->u.array_buffer;\n    if (!brunt_look(ctx, abuf)) {\n        \
              js_free(ctx, ta);\n        JS_FreeValue(ctx, buffer);\n        return -1;\n    }\n    ta->obj = p;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    abuf = js_get_array_buffer(ctx, buffer);\n    if (!abuf)\n        return JS_EXCEPTION;\n    offset = 0;\n",
        put: "    abuf = js_get_array_buffer(ctx, buffer);\n    if (!abuf || !brunt_look(ctx, abuf))\n        \
              return JS_EXCEPTION;\n    offset = 0;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    *psize = abuf->byte_length;\n    return abuf->data;\n",
        put: "    if (!brunt_look(ctx, abuf))\n        goto fail;\n    \
              *psize = abuf->byte_length;\n    return abuf->data;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (new_abuf->immutable) {\n",
        put: "    if (new_abuf->immutable && brunt_is_immutable(new_abuf)) {\n",
        times: 1,
    },
    // In what follows the arguments are read between the engine's check and the write. Reading them may run a script,
    // which may lend the buffer.
    Adjustment {
        file: "quickjs.c",
        find: "    abuf = ta->buffer->u.array_buffer;\n    if (abuf->immutable)\n        \
               return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n    size = ",
        put: "    abuf = ta->buffer->u.array_buffer;\n    if (abuf->immutable == 1)\n        \
              return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n    size = ",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    ptr = abuf->data + ta->offset + pos;\n\n    switch(class_id) {\n    \
               case JS_CLASS_INT8_ARRAY:\n    case JS_CLASS_UINT8_ARRAY:\n        *ptr = v;\n",
        put: "    if (abuf->immutable && brunt_is_immutable(abuf))\n        \
              return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n    \
              ptr = abuf->data + ta->offset + pos;\n\n    switch(class_id) {\n    \
              case JS_CLASS_INT8_ARRAY:\n    case JS_CLASS_UINT8_ARRAY:\n        *ptr = v;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            /* same type, use memmove */\n",
        put: "            if (typed_array_is_immutable(p)) {\n                \
              JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n                goto fail;\n            }\n            \
              /* same type, use memmove */\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    // RAB may have been resized by evil .valueOf method\n    space =",
        put: "    if (typed_array_is_immutable(p))\n        return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n    \
              // RAB may have been resized by evil .valueOf method\n    space =",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    // RAB may have been resized by evil .valueOf method\n    final =",
        put: "    if (typed_array_is_immutable(p))\n        return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n    \
              // RAB may have been resized by evil .valueOf method\n    final =",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            array_tmp = js_malloc(ctx, len * elt_size);\n            if (!array_tmp) {\n            fail:\n",
        put: "            if (typed_array_is_immutable(p)) {\n                \
              JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n                goto fail;\n            }\n            \
              array_tmp = js_malloc(ctx, len * elt_size);\n            if (!array_tmp) {\n            fail:\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    decoded_len = from_base64(str, str_len, data, len,\n",
        put: "    if (typed_array_is_immutable(p)) {\n        JS_FreeCString(ctx, str);\n        \
              return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n    }\n    \
              data = p->u.array.u.uint8_ptr;\n    \
              decoded_len = from_base64(str, str_len, data, len,\n",
        times: 1,
    },
    // Atomics do not look at all.
    Adjustment {
        file: "quickjs.c",
        find: "    ptr = p->u.array.u.uint8_ptr + ((uintptr_t)idx << size_log2);\n\n   switch(op | (size_log2 << 3)) {\n",
        put: "    if (op != ATOMICS_OP_LOAD && typed_array_is_immutable(p))\n        \
              return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n    \
              ptr = p->u.array.u.uint8_ptr + ((uintptr_t)idx << size_log2);\n\n   switch(op | (size_log2 << 3)) {\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        ptr = p->u.array.u.uint8_ptr + ((uintptr_t)idx << size_log2);\n        \
               atomic_store((_Atomic uint64_t *)ptr, v64);\n",
        put: "        if (typed_array_is_immutable(p)) {\n            JS_FreeValue(ctx, ret);\n            \
              return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n        }\n        \
              ptr = p->u.array.u.uint8_ptr + ((uintptr_t)idx << size_log2);\n        \
              atomic_store((_Atomic uint64_t *)ptr, v64);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        ptr = p->u.array.u.uint8_ptr + ((uintptr_t)idx << size_log2);\n        switch(size_log2) {\n",
        put: "        if (typed_array_is_immutable(p)) {\n            JS_FreeValue(ctx, ret);\n            \
              return JS_ThrowTypeErrorImmutableArrayBuffer(ctx);\n        }\n        \
              ptr = p->u.array.u.uint8_ptr + ((uintptr_t)idx << size_log2);\n        switch(size_log2) {\n",
        times: 1,
    },
    // Strings whose letters the process holds once: see `brunt_lent_string` in lending.c.
    Adjustment {
        file: "quickjs.c",
        find: "    JS_STRING_KIND_INDIRECT,\n} JSStringKind;\n",
        put: "    JS_STRING_KIND_INDIRECT,\n    BRUNT_STRING_KIND_LENT,\n} JSStringKind;\n\n\
              typedef struct BruntLentString {\n    const void *data;\n    void *owner;\n    \
              void (*release)(void *owner);\n} BruntLentString;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        return (char *)&slice->parent[1] + slice->start;\n    case JS_STRING_KIND_INDIRECT:\n",
        put: "        if (unlikely(slice->parent->kind == BRUNT_STRING_KIND_LENT)) {\n            \
              indirect = (void *)&slice->parent[1];\n            return (char *)*indirect + slice->start;\n        }\n        \
              return (char *)&slice->parent[1] + slice->start;\n    case BRUNT_STRING_KIND_LENT:\n    \
              case JS_STRING_KIND_INDIRECT:\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            js_free_rt(rt, strv(str));\n            break;\n        }\n",
        put: "            js_free_rt(rt, strv(str));\n            break;\n        case BRUNT_STRING_KIND_LENT:\n            \
              brunt_release(str);\n            break;\n        }\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static inline void js_free_string0(JSRuntime *rt, JSString *str)\n{\n",
        put: "static void brunt_release(JSString *str);\n\n\
              static inline void js_free_string0(JSRuntime *rt, JSString *str)\n{\n",
        times: 1,
    },
    // A name is a string of its own. (A slice's parent would never be freed, either.)
    Adjustment {
        file: "quickjs.c",
        find: "        if (str->atom_type == 0) {\n            p = str;\n",
        put: "        if (str->atom_type == 0 && str->kind == JS_STRING_KIND_NORMAL) {\n            p = str;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            memcpy(str8(p), str8(str), (str->len << str->is_wide_char) +\n                   1 - str->is_wide_char);\n",
        put: "            memcpy(str8(p), str8(str), str->len << str->is_wide_char);\n            \
              if (!str->is_wide_char)\n                str8(p)[str->len] = '\\0';\n",
        times: 1,
    },
];
