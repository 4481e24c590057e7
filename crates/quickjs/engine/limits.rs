//! Where native loops look up: whether they must stop, whether neighbours wait, and how much memory there may be.
//! `polls.c` stands before the built-ins and gives them functions that ask; `limits.c` has the rest.

use super::adjustments::Adjustment;

pub(crate) const LIMITS: &[Adjustment] = &[
    // The engine's own limit becomes what was promised to the VM so far: beyond it, Rust is asked for more.
    Adjustment {
        file: "quickjs.c",
        find: "    uintptr_t stack_limit; /* lower stack limit, of",
        put: "    size_t brunt_heap_max; /* garbage is collected before the heap is as large; 0: no limit */\n    \
              uintptr_t stack_limit; /* lower stack limit, of",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "void *js_calloc_rt(JSRuntime *rt, size_t count, size_t size)\n{",
        put: "static bool brunt_more(JSRuntime *rt, size_t size);\n\n\
              void *js_calloc_rt(JSRuntime *rt, size_t count, size_t size)\n{",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (unlikely(s->malloc_size + (count * size) > s->malloc_limit - 1))\n",
        put: "    if (unlikely(s->malloc_size + (count * size) > s->malloc_limit - 1) && !brunt_more(rt, count * size))\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (unlikely(s->malloc_size + size > s->malloc_limit - 1))\n",
        put: "    if (unlikely(s->malloc_size + size > s->malloc_limit - 1) && !brunt_more(rt, size))\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (s->malloc_size + size - old_size > s->malloc_limit - 1)\n",
        put: "    if (size > old_size && unlikely(s->malloc_size + size - old_size > s->malloc_limit - 1) &&\n        \
              !brunt_more(rt, size - old_size))\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        rt->malloc_gc_threshold = rt->malloc_state.malloc_size +\n            \
               (rt->malloc_state.malloc_size >> 1);\n    }\n}\n",
        put: "        rt->malloc_gc_threshold = rt->malloc_state.malloc_size +\n            \
              (rt->malloc_state.malloc_size >> 1);\n        \
              if (rt->brunt_heap_max && rt->malloc_gc_threshold > rt->brunt_heap_max - rt->brunt_heap_max / 16) {\n            \
              rt->malloc_gc_threshold = rt->malloc_state.malloc_size + (rt->malloc_state.malloc_size >> 6);\n            \
              if (rt->malloc_gc_threshold < rt->brunt_heap_max - rt->brunt_heap_max / 16)\n                \
              rt->malloc_gc_threshold = rt->brunt_heap_max - rt->brunt_heap_max / 16;\n        }\n    }\n}\n",
        times: 1,
    },
    // From here on built-ins ask. What they are made of was defined before.
    Adjustment {
        file: "quickjs.c",
        find: "static JSValue JS_GetOwnPropertyNames2(JSContext *ctx, JSValueConst obj1,\n                                       \
               int flags, int kind)\n{",
        put: concat!(
            include_str!("polls.c"),
            "static JSValue JS_GetOwnPropertyNames2(JSContext *ctx, JSValueConst obj1,\n                                       ",
            "int flags, int kind)\n{"
        ),
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static JSValue js_string_indexOf(JSContext *ctx, JSValueConst this_val,",
        put: concat!(
            include_str!("search.c"),
            "static JSValue js_string_indexOf(JSContext *ctx, JSValueConst this_val,"
        ),
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static JSValue js_regexp_test(JSContext *ctx, JSValueConst this_val,",
        put: "#define JS_RegExpExec(ctx, r, s) (js_poll_interrupts(ctx) ? JS_EXCEPTION : JS_RegExpExec(ctx, r, s))\n\n\
              static JSValue js_regexp_test(JSContext *ctx, JSValueConst this_val,",
        times: 1,
    },
    // Separators alone that are too long for a text: said before anybody counts to 4 billion.
    Adjustment {
        file: "quickjs.c",
        find: "            c = -1;\n    }\n    string_buffer_init(ctx, b, 0);\n\n    for(i = 0; i < n; i++) {\n        if (i > 0) {\n            if (c >= 0) {\n",
        put: "            c = -1;\n    }\n    string_buffer_init(ctx, b, 0);\n    \
              if (n > 1 && (c >= 0 || p->len > 0) && n - 1 > JS_STRING_LEN_MAX / (c >= 0 ? 1 : (int64_t)p->len)) {\n        \
              JS_ThrowRangeError(ctx, \"invalid string length\");\n        goto fail;\n    }\n\n    \
              for(i = 0; i < n; i++) {\n        if (i > 0) {\n            if (c >= 0) {\n",
        times: 1,
    },
    // Loops that go on although their text is too long, or was given up.
    Adjustment {
        file: "quickjs.c",
        find: "        el = JS_GetPropertyUint32(ctx, obj, i);\n        if (JS_IsException(el))\n            goto fail;\n        \
               if (!JS_IsNull(el) && !JS_IsUndefined(el)) {\n            if (toLocaleString) {",
        put: "        if (b->error_status)\n            goto fail;\n        \
              el = JS_GetPropertyUint32(ctx, obj, i);\n        if (JS_IsException(el))\n            goto fail;\n        \
              if (!JS_IsNull(el) && !JS_IsUndefined(el)) {\n            if (toLocaleString) {",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        while (n-- > 0) {\n            string_buffer_concat(b, p, 0, len);\n        }\n",
        put: "        while (n-- > 0 && !string_buffer_concat(b, p, 0, len))\n            ;\n",
        times: 1,
    },
    // Sorting: a comparison cannot fail, so the sort is left where it is.
    Adjustment {
        file: "quickjs.c",
        find: "        rqsort(array, pos, sizeof(*array), js_array_cmp_generic, &asc);\n    if (asc.exception)",
        put: "        if (brunt_rqsort(ctx, array, pos, sizeof(*array), js_array_cmp_generic, &asc))\n            \
              asc.exception = 1;\n    if (asc.exception)",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            rqsort(array_idx, len, sizeof(array_idx[0]),\n                   js_TA_cmp_generic, &tsc);\n",
        put: "            if (brunt_rqsort(ctx, array_idx, len, sizeof(array_idx[0]), js_TA_cmp_generic, &tsc))\n                \
              tsc.exception = 1;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            rqsort(p->u.array.u.ptr, len, elt_size, cmpfun, &tsc);\n",
        put: "            if (brunt_rqsort(ctx, p->u.array.u.ptr, len, elt_size, cmpfun, &tsc))\n                \
              tsc.exception = 1;\n",
        times: 1,
    },
    // Filling typed arrays: in pieces.
    Adjustment {
        file: "quickjs.c",
        find: "    final = min_int(final, p->u.array.count);\n    shift = typed_array_size_log2(p->class_id);\n    switch(shift) {\n",
        put: "    len = min_int(final, p->u.array.count);\n    shift = typed_array_size_log2(p->class_id);\n    \
              brunt_next:\n    final = len - k > 65536 ? k + 65536 : len;\n    switch(shift) {\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            p->u.array.u.uint64_ptr[k] = v64;\n        }\n        break;\n    default:\n        abort();\n    }\n    \
               return js_dup(this_val);\n",
        put: "            p->u.array.u.uint64_ptr[k] = v64;\n        }\n        break;\n    default:\n        abort();\n    }\n    \
              k = final;\n    if (k < len) {\n        if (brunt_breathe(ctx, 1000))\n            \
              return JS_EXCEPTION;\n        goto brunt_next;\n    }\n    \
              return js_dup(this_val);\n",
        times: 1,
    },
    // Spreading into arrays and objects, the multiplication of long numbers, and reading source text.
    Adjustment {
        file: "quickjs.c",
        find: "            value = JS_IteratorNext(ctx, enumobj, method, 0, NULL, &done);\n            if (JS_IsException(value))\n                \
               goto exception;\n            if (done) {\n                /* value is JS_UNDEFINED */",
        put: "            if (js_poll_interrupts(ctx))\n                goto exception;\n            \
              value = JS_IteratorNext(ctx, enumobj, method, 0, NULL, &done);\n            if (JS_IsException(value))\n                \
              goto exception;\n            if (done) {\n                /* value is JS_UNDEFINED */",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        val = JS_GetProperty(ctx, source, tab_atom[i].atom);\n        if (JS_IsException(val))\n            \
               goto exception;\n        if (setprop)",
        put: "        val = js_poll_interrupts(ctx) ? JS_EXCEPTION : JS_GetProperty(ctx, source, tab_atom[i].atom);\n        \
              if (JS_IsException(val))\n            goto exception;\n        if (setprop)",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    js_mp_mul_basecase(r->tab, a->tab, a->len, b->tab, b->len);\n",
        put: "    ctx->interrupt_counter -= (uint64_t)a->len * b->len >> 6;\n    if (js_poll_interrupts(ctx)) {\n        \
              js_free(ctx, r);\n        return NULL;\n    }\n    \
              js_mp_mul_basecase(r->tab, a->tab, a->len, b->tab, b->len);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    r = js_bigint_new(ctx, na + 2);\n    if (!r)\n        return NULL;\n    if (a_sign) {\n",
        put: "    ctx->interrupt_counter -= (uint64_t)na * nb >> 6;\n    if (js_poll_interrupts(ctx))\n        return NULL;\n    \
              r = js_bigint_new(ctx, na + 2);\n    if (!r)\n        return NULL;\n    if (a_sign) {\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "                h = js_mp_mul1(r->tab, r->tab, len, js_pow_dec[i], v);\n",
        put: "                ctx->interrupt_counter -= len >> 6;\n                if (js_poll_interrupts(ctx)) {\n                    \
              js_free(ctx, r);\n                    return NULL;\n                }\n                \
              h = js_mp_mul1(r->tab, r->tab, len, js_pow_dec[i], v);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "                    v = js_mp_div1(r->tab, r->tab, len, radix_base, 0);\n",
        put: "                    ctx->interrupt_counter -= len >> 6;\n                    if (js_poll_interrupts(ctx)) {\n                        \
              js_free(ctx, tmp);\n                        js_free(ctx, buf);\n                        return JS_EXCEPTION;\n                    }\n                    \
              v = js_mp_div1(r->tab, r->tab, len, radix_base, 0);\n",
        times: 1,
    },
    // What was multiplied so far is the engine's to free.
    Adjustment {
        file: "quickjs.c",
        find: "        r1 = js_bigint_mul(ctx, r, r);\n        if (!r1)\n            return NULL;\n",
        put: "        r1 = js_bigint_mul(ctx, r, r);\n        if (!r1) {\n            js_free(ctx, r);\n            return NULL;\n        }\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            r1 = js_bigint_mul(ctx, r, a);\n            if (!r1)\n                return NULL;\n",
        put: "            r1 = js_bigint_mul(ctx, r, a);\n            if (!r1) {\n                js_free(ctx, r);\n                return NULL;\n            }\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static __exception int next_token(JSParseState *s)\n{\n",
        put: "static __exception int next_token_unasked(JSParseState *s);\n\
              static __exception int next_token(JSParseState *s)\n{\n    \
              return js_poll_interrupts(s->ctx) ? -1 : next_token_unasked(s);\n}\n\n\
              static __exception int next_token_unasked(JSParseState *s)\n{\n",
        times: 1,
    },
];
