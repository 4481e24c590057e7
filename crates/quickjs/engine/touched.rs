//! Which memory an iteration touches. A VU that comes round after hundreds of others finds its objects gone from the
//! cache, and waits for each line of them. So one of its first iterations is watched, and what it touched is fetched
//! before the VU goes on: see `src/touched.rs`. Watched are the places that wait most: property lookups, blocks that
//! are taken and given back, functions that are called, names.

use super::adjustments::Adjustment;

pub(crate) const TOUCHED: &[Adjustment] = &[
    Adjustment {
        file: "quickjs.c",
        find: "/* max overhead for size >= 64: 12.5% */\n",
        put: concat!(include_str!("touched.c"), "/* max overhead for size >= 64: 12.5% */\n"),
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            list_del(&ar->free_link);\n        return b->user_data;\n",
        put: "            list_del(&ar->free_link);\n        BRUNT_NOTE(head, sizeof(*head));\n        \
              BRUNT_NOTE(ar, sizeof(*ar));\n        \
              BRUNT_NOTE(b, block_size);\n        return b->user_data;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        b->u.free_next = ar->first_free_block;\n        ar->first_free_block = block_idx;\n",
        put: "        BRUNT_NOTE(ar, sizeof(*ar));\n        BRUNT_NOTE(b, block_size);\n        \
              b->u.free_next = ar->first_free_block;\n        ar->first_free_block = block_idx;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "            *ppr = &p->prop[h - 1];\n            /* the compiler should",
        put: "            *ppr = &p->prop[h - 1];\n            \
              if (unlikely(brunt_touched != NULL))\n                brunt_note_property(p, atom, pr, *ppr);\n            \
              /* the compiler should",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    *ppr = NULL;\n    return NULL;\n}\n\n/* Release a counted reference",
        put: "    *ppr = NULL;\n    if (unlikely(brunt_touched != NULL))\n        \
              brunt_note_property(p, atom, NULL, NULL);\n    return NULL;\n}\n\n/* Release a counted reference",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static inline JSShapeProperty *find_own_property(JSProperty **ppr,\n",
        put: "static no_inline void brunt_note_property(JSObject *p, JSAtom atom, JSShapeProperty *pr, JSProperty *value)\n{\n    \
              JSShape *sh = p->shape;\n    intptr_t h = hash_atom(atom, sh->prop_hash_mask);\n\n    \
              brunt_note_block(p, sizeof(*p));\n    \
              brunt_note_block(sh, sizeof(*sh));\n    \
              brunt_note(&prop_hash_end(sh)[-h - 1], 4);\n    \
              for(h = prop_hash_end(sh)[-h - 1]; h; h = get_shape_prop(sh)[h - 1].hash_next) {\n        \
              brunt_note(&get_shape_prop(sh)[h - 1], sizeof(*pr));\n        \
              if (pr == &get_shape_prop(sh)[h - 1])\n            break;\n    }\n    \
              if (pr)\n        brunt_note(value, sizeof(*value));\n}\n\n\
              static inline JSShapeProperty *find_own_property(JSProperty **ppr,\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    b = p->u.func.function_bytecode;\n\n    if (unlikely(argc < b->arg_count",
        put: "    b = p->u.func.function_bytecode;\n    \
              if (unlikely(brunt_touched != NULL))\n        brunt_note_function(caller_ctx, p, b);\n\n    \
              if (unlikely(argc < b->arg_count",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "static JSValue JS_CallInternal(JSContext *caller_ctx, JSValueConst func_obj,\n",
        put: "static no_inline void brunt_note_function(JSContext *ctx, JSObject *p, JSFunctionBytecode *b)\n{\n    JSRuntime *rt = ctx->rt;\n    int i;\n\n    \
              brunt_note(ctx, offsetof(JSContext, function_ctor));\n    \
              brunt_note(ctx->class_proto, 2 * sizeof(JSValue));\n    \
              brunt_note(&ctx->global_obj, 2 * sizeof(JSValue));\n    \
              brunt_note(&ctx->interrupt_counter, sizeof(ctx->interrupt_counter));\n    \
              brunt_note(&rt->malloc_state, sizeof(rt->malloc_state));\n    \
              brunt_note(&rt->atom_hash, offsetof(JSRuntime, job_list) - offsetof(JSRuntime, atom_hash) + sizeof(rt->job_list));\n    \
              brunt_note(&rt->shape_hash_bits, sizeof(int));\n    \
              brunt_note(&rt->shape_hash, 2 * sizeof(void *));\n    \
              brunt_note(&ctx->rt->class_array[JS_CLASS_BYTECODE_FUNCTION], sizeof(JSClass));\n    \
              brunt_note_block(p, sizeof(*p));\n    \
              brunt_note_block(b, sizeof(*b));\n    \
              brunt_note(b->byte_code_buf, min_int(b->byte_code_len, 512));\n    \
              brunt_note(b->cpool, sizeof(JSValue) * min_int(b->cpool_count, 16));\n    \
              for(i = 0; i < min_int(b->closure_var_count, 16); i++) {\n        \
              JSVarRef *ref = p->u.func.var_refs[i];\n        brunt_note(&p->u.func.var_refs[i], sizeof(ref));\n        \
              if (ref) {\n            brunt_note(ref, sizeof(*ref));\n            \
              brunt_note(ref->pvalue, sizeof(JSValue));\n        }\n    }\n}\n\n\
              static JSValue JS_CallInternal(JSContext *caller_ctx, JSValueConst func_obj,\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        ret_string:\n            return js_dup(",
        put: "        ret_string:\n            BRUNT_NOTE(&rt->atom_array[atom], sizeof(p));\n            \
              BRUNT_NOTE_BLOCK(p, 16);\n            return js_dup(",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (!__JS_AtomIsConst(v)) {\n        rt = ctx->rt;\n        p = rt->atom_array[v];\n",
        put: "    if (!__JS_AtomIsConst(v)) {\n        rt = ctx->rt;\n        p = rt->atom_array[v];\n        \
              BRUNT_NOTE(&rt->atom_array[v], sizeof(p));\n        \
              BRUNT_NOTE_BLOCK(p, 16);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    for(sh1 = rt->shape_hash[h1]; sh1 != NULL; sh1 = sh1->shape_hash_next) {\n",
        put: "    BRUNT_NOTE(&rt->shape_hash[h1], sizeof(sh1));\n    \
              for(sh1 = rt->shape_hash[h1]; sh1 != NULL; sh1 = sh1->shape_hash_next) {\n        \
              BRUNT_NOTE(sh1, sizeof(*sh1) + 64);\n",
        times: 2,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    finalizer = rt->class_array[p->class_id].finalizer;\n    if (finalizer)\n",
        put: "    BRUNT_NOTE(&rt->class_array[p->class_id], sizeof(JSClass));\n    \
              finalizer = rt->class_array[p->class_id].finalizer;\n    if (finalizer)\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    return JS_NewObjectProtoClass(ctx, ctx->class_proto[class_id], class_id);\n",
        put: "    BRUNT_NOTE(&ctx->class_proto[class_id], sizeof(JSValue));\n    \
              return JS_NewObjectProtoClass(ctx, ctx->class_proto[class_id], class_id);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    p = JS_VALUE_GET_OBJ(func_obj);\n    if (unlikely(p->class_id != JS_CLASS_BYTECODE_FUNCTION)) {\n",
        put: "    p = JS_VALUE_GET_OBJ(func_obj);\n    \
              BRUNT_NOTE_BLOCK(p, sizeof(*p));\n    \
              if (unlikely(p->class_id != JS_CLASS_BYTECODE_FUNCTION)) {\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (p->class_id != class_id)\n        return NULL;\n    return p->u.opaque;\n",
        put: "    BRUNT_NOTE_BLOCK(p, sizeof(*p));\n    \
              if (p->class_id != class_id)\n        return NULL;\n    return p->u.opaque;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    list_add_tail(&h->link, &rt->gc_obj_list);\n",
        put: "    BRUNT_NOTE(rt->gc_obj_list.prev, sizeof(h->link));\n    list_add_tail(&h->link, &rt->gc_obj_list);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    if (proto)\n        js_dup(JS_MKPTR(JS_TAG_OBJECT, proto));\n    sh->proto = proto;\n",
        put: "    if (proto) {\n        BRUNT_NOTE_BLOCK(proto, sizeof(*proto));\n        \
              js_dup(JS_MKPTR(JS_TAG_OBJECT, proto));\n    }\n    sh->proto = proto;\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        assert(atom < rt->atom_size);\n        p = rt->atom_array[atom];\n        \
              if (p->atom_type == JS_ATOM_TYPE_STRING &&\n            is_num_string(&val, p) && val != -1) {\n",
        put: "        assert(atom < rt->atom_size);\n        p = rt->atom_array[atom];\n        \
              BRUNT_NOTE(&rt->atom_array[atom], sizeof(p));\n        BRUNT_NOTE_BLOCK(p, sizeof(*p) + 8);\n        \
              if (p->atom_type == JS_ATOM_TYPE_STRING &&\n            is_num_string(&val, p) && val != -1) {\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    pr = get_shape_prop(sh);\n    for(i = 0; i < sh->prop_count; i++) {\n        \
              free_property(rt, &p->prop[i], pr->flags);\n",
        put: "    pr = get_shape_prop(sh);\n    \
              BRUNT_NOTE(pr, sizeof(*pr) * min_int(sh->prop_count, 32));\n    \
              for(i = 0; i < sh->prop_count; i++) {\n        \
              free_property(rt, &p->prop[i], pr->flags);\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "        *pv = ctx->error_back_trace;\n",
        put: "        BRUNT_NOTE(&ctx->error_back_trace, sizeof(JSValue));\n        *pv = ctx->error_back_trace;\n",
        times: 1,
    },
];
