/* Small functions of Brunt that belong to no patch: they use what is static in quickjs.c. */

/* Math.hypot takes the `hypot` that every glibc has. The newer version of it, which linkers choose, differs only in errno, and would be the one
   reason for a program to need glibc 2.35 instead of 2.34. */
#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver hypot, hypot@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
__asm__(".symver hypot, hypot@GLIBC_2.17");
#endif

/* An object with these properties. The atoms differ; the values become the engine's, also on failure. Unlike
   JS_NewObjectFrom it defines: no setter of Object.prototype runs (and none can fail halfway). */
JSValue brunt_object_from(JSContext *ctx, int count, const JSAtom *props, const JSValue *values)
{
    int i;
    JSValue obj = JS_NewObject(ctx);

    if (JS_IsException(obj)) {
        for (i = 0; i < count; i++)
            JS_FreeValue(ctx, values[i]);
        return JS_EXCEPTION;
    }
    for (i = 0; i < count; i++) {
        JSProperty *pr = add_property(ctx, JS_VALUE_GET_OBJ(obj), props[i], JS_PROP_C_W_E);
        if (!pr)
            break;
        pr->u.value = values[i];
    }
    if (i == count)
        return obj;
    for (; i < count; i++)
        JS_FreeValue(ctx, values[i]);
    JS_FreeValue(ctx, obj);
    return JS_EXCEPTION;
}

/* The same, but quickly, if `like` is an object of exactly these properties as brunt_object_from makes it. Otherwise
   JS_UNDEFINED, and the values stay the caller's. */
JSValue brunt_object_like(JSContext *ctx, JSValueConst like, int count, const JSAtom *props, const JSValue *values)
{
    int i;
    JSShape *sh;
    JSShapeProperty *prs;
    JSValue obj;

    if (JS_VALUE_GET_TAG(like) != JS_TAG_OBJECT || JS_VALUE_GET_OBJ(like)->class_id != JS_CLASS_OBJECT)
        return JS_UNDEFINED;
    sh = JS_VALUE_GET_OBJ(like)->shape;
    if (!sh->is_hashed || sh->prop_count != count || sh->deleted_prop_count != 0 ||
        sh->proto != JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_OBJECT]))
        return JS_UNDEFINED;
    prs = get_shape_prop(sh);
    for (i = 0; i < count; i++) {
        if (prs[i].atom != props[i] || prs[i].flags != JS_PROP_C_W_E)
            return JS_UNDEFINED;
    }
    obj = JS_NewObjectFromShape(ctx, js_dup_shape(sh), JS_CLASS_OBJECT, NULL);
    for (i = 0; i < count; i++) {
        if (JS_IsException(obj))
            JS_FreeValue(ctx, values[i]);
        else
            JS_VALUE_GET_OBJ(obj)->prop[i].u.value = values[i];
    }
    return obj;
}

/* The bytes that an ArrayBuffer, SharedArrayBuffer, typed array or DataView shows now, whatever the script made of
   its properties. false: it is none of them, was detached, or is immutable and the bytes are wanted for writing. Runs
   no script and throws nothing. */
bool brunt_bytes(JSValueConst obj, bool to_write, uint8_t **data, size_t *length)
{
    JSObject *p;
    JSTypedArray *ta;
    JSArrayBuffer *abuf;

    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)
        return false;
    p = JS_VALUE_GET_OBJ(obj);
    if (p->class_id == JS_CLASS_ARRAY_BUFFER || p->class_id == JS_CLASS_SHARED_ARRAY_BUFFER) {
        abuf = p->u.array_buffer;
        if (!abuf || abuf->detached || (to_write && abuf->immutable && brunt_is_immutable(abuf)) || !brunt_is_made(abuf))
            return false;
        *data = abuf->data;
        *length = abuf->byte_length;
        return true;
    }
    if (!is_typed_array(p->class_id) && p->class_id != JS_CLASS_DATAVIEW)
        return false;
    ta = p->u.typed_array;
    if (!ta)
        return false;
    abuf = ta->buffer->u.array_buffer;
    if (!abuf || abuf->detached || (to_write && abuf->immutable && brunt_is_immutable(abuf)) ||
        ta->offset > abuf->byte_length)
        return false;
    *length = ta->length;
    if (ta->track_rab && p->class_id == JS_CLASS_DATAVIEW)
        *length = abuf->byte_length - ta->offset;
    else if (ta->track_rab)
        *length = (size_t)p->u.array.count << typed_array_size_log2(p->class_id);
    if (*length > (size_t)(abuf->byte_length - ta->offset))
        return false;
    *data = abuf->data + ta->offset;
    return true;
}

/* Frees the jobs that wait, as JS_FreeRuntime does. */
void brunt_drop_jobs(JSRuntime *rt)
{
    int i;

    while (!list_empty(&rt->job_list)) {
        JSJobEntry *e = list_entry(rt->job_list.next, JSJobEntry, link);
        list_del(&e->link);
        for (i = 0; i < e->argc; i++)
            JS_FreeValueRT(rt, e->argv[i]);
        js_free_rt(rt, e);
    }
}

/* Where Math.random() begins; never 0, which the generator would stay at. */
void brunt_seed_random(JSContext *ctx, uint64_t seed)
{
    ctx->random_state = seed ? seed : 1;
}

/* Bytes that the heap holds. Unlike JS_ComputeMemoryUsage it walks nothing. */
size_t brunt_allocated(JSRuntime *rt)
{
    return rt->malloc_state.malloc_size;
}

/* Bytes of arenas that no block uses: for tests. */
size_t brunt_arena_room(JSRuntime *rt)
{
    struct list_head *el;
    size_t room = 0;
    int i;

    for (i = 0; i < JS_ARENA_BLOCK_SIZE_COUNT; i++) {
        list_for_each(el, &rt->arena_state.arena_list[i]) {
            JSArena *ar = list_entry(el, JSArena, link);
            room += (size_t)(ar->n_blocks - ar->n_used_blocks) * arena_block_sizes[i];
        }
    }
    return room;
}

/* A DataView of a whole buffer. */
JSValue brunt_data_view(JSContext *ctx, JSValueConst buffer)
{
    return js_dataview_constructor(ctx, JS_UNDEFINED, 1, &buffer);
}

/* Where the exception that is under way was thrown; it is forgotten. */
JSValue brunt_take_place(JSContext *ctx)
{
    JSValue place = ctx->error_back_trace;

    BRUNT_NOTE(&ctx->error_back_trace, sizeof(JSValue));
    ctx->error_back_trace = JS_UNDEFINED;
    return place;
}

/* The exception that is under way was thrown there: gives the place away. */
void brunt_place_of_throw(JSContext *ctx, JSValue place)
{
    JS_FreeValue(ctx, ctx->error_back_trace);
    ctx->error_back_trace = place;
}

/* Whether the deep part of the stack was used since the stack was announced. */
int brunt_was_deep(JSRuntime *rt)
{
    return rt->stack_limit == rt->brunt_stack_end && rt->stack_size > BRUNT_SHALLOW;
}

/* The frame of the function that runs, as a number to compare. */
uintptr_t brunt_frame(JSContext *ctx)
{
    return (uintptr_t)ctx->rt->current_stack_frame;
}

/* Whether what the native function that runs returns goes straight to `frame`: it was called by `return f(...)` in a script
   function that was called from there. */
int brunt_returns_to(JSContext *ctx, uintptr_t frame)
{
    JSStackFrame *sf = ctx->rt->current_stack_frame;
    JSFunctionBytecode *b;
    JSObject *p;
    const uint8_t *pc, *end;

    /* Some native functions have a frame of their own. */
    if (sf && (uintptr_t)sf->prev_frame != frame)
        sf = sf->prev_frame;
    if (!sf || (uintptr_t)sf == frame || (uintptr_t)sf->prev_frame != frame || !sf->cur_pc ||
        JS_VALUE_GET_TAG(sf->cur_func) != JS_TAG_OBJECT)
        return 0;
    p = JS_VALUE_GET_OBJ(sf->cur_func);
    if (p->class_id != JS_CLASS_BYTECODE_FUNCTION)
        return 0;
    b = p->u.func.function_bytecode;
    if (b->func_kind != JS_FUNC_NORMAL)
        return 0;
    end = b->byte_code_buf + b->byte_code_len;
    for (pc = b->byte_code_buf; pc < end; pc += short_opcode_info(*pc).size) {
        if (pc + 3 == sf->cur_pc)
            return *pc == OP_tail_call || *pc == OP_tail_call_method;
    }
    return 0;
}

/* The trace of an error, as the engine made it; undefined for what has none. */
JSValue brunt_stack(JSContext *ctx, JSValueConst error)
{
    return js_error_get_stack(ctx, error);
}

/* Makes the property of `obj` and the export of that name one and the same variable: whoever sets the property sets the
   export. 0: there is no such export, or no plain property. */
int brunt_share_export(JSContext *ctx, JSModuleDef *m, JSAtom name, JSValueConst obj)
{
    JSExportEntry *me = find_export_entry(ctx, m, name);
    JSShapeProperty *prs;
    JSProperty *pr;
    JSVarRef *var_ref;
    JSObject *p;
    JSValue value;

    if (!me || me->export_type != JS_EXPORT_TYPE_LOCAL || JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)
        return 0;
    /* Members are made when they are first asked for. */
    value = JS_GetProperty(ctx, obj, name);
    if (JS_IsException(value))
        return -1;
    JS_FreeValue(ctx, value);
    p = JS_VALUE_GET_OBJ(obj);
    prs = find_own_property(&pr, p, name);
    if (!prs || prs->flags != JS_PROP_C_W_E)
        return 0;
    if (js_shape_prepare_update(ctx, p, &prs))
        return -1;
    var_ref = me->u.local.var_ref;
    JS_REF_COUNT(var_ref)++;
    prs->flags |= JS_PROP_VARREF;
    value = pr->u.value;
    pr->u.var_ref = var_ref;
    set_value(ctx, var_ref->pvalue, value);
    return 1;
}

/* Makes an export of a native module live: each reading of it reads the property of `obj`, which is the same object for
   all exports of the module. 0: there is no such export. */
int brunt_live_export(JSContext *ctx, JSModuleDef *m, JSAtom name, JSValueConst obj)
{
    JSExportEntry *me = find_export_entry(ctx, m, name);

    if (!me || me->export_type != JS_EXPORT_TYPE_LOCAL)
        return 0;
    set_value(ctx, &m->private_value, js_dup(obj));
    me->brunt_module = m;
    set_value(ctx, me->u.local.var_ref->pvalue, JS_MKPTR(JS_TAG_UNINITIALIZED, (void *)((uintptr_t)me | 1)));
    return 1;
}

/* Leaves an export of a native module out of its namespace. */
void brunt_hide_export(JSContext *ctx, JSModuleDef *m, JSAtom name)
{
    JSExportEntry *me = find_export_entry(ctx, m, name);

    if (me)
        me->brunt_is_hidden = true;
}

/* A string of 'len' letters of one or two bytes. The caller writes them to '*letters' before anybody sees the string. */
JSValue brunt_string_room(JSContext *ctx, uint32_t len, bool is_wide, void **letters)
{
    JSString *str = js_alloc_string(ctx, len, is_wide);

    if (!str)
        return JS_EXCEPTION;
    if (is_wide) {
        *letters = str16(str);
    } else {
        str8(str)[len] = '\0';
        *letters = str8(str);
    }
    return JS_MKPTR(JS_TAG_STRING, str);
}
