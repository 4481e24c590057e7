
/* Shapes that outlive their objects, and functions made at once: patches kept-shapes, functions-at-once. */

/* Takes a shape that nothing refers to any more into the ring, the oldest of which goes. false: it must be freed. */
static bool brunt_keep_shape(JSRuntime *rt, JSShape *sh)
{
    JSShape *oldest;
    int index;

    if (!sh->is_hashed || sh->prop_count == 0 || sh->prop_count > 8 ||
        rt->gc_phase == JS_GC_PHASE_REMOVE_CYCLES || rt->in_free)
        return false;
    index = rt->brunt_next_shape;
    rt->brunt_next_shape = (index + 1) % countof(rt->brunt_kept_shapes);
    oldest = rt->brunt_kept_shapes[index];
    JS_REF_COUNT(sh) = 1;
    rt->brunt_kept_shapes[index] = sh;
    /* It may be the shape of an object now; otherwise it goes, and perhaps others with its prototype. */
    if (oldest && --JS_REF_COUNT(oldest) <= 0)
        js_free_shape0(rt, oldest);
    return true;
}

static void brunt_drop_shapes(JSRuntime *rt)
{
    bool keeps = rt->brunt_keeps_shapes;
    size_t i;

    rt->brunt_keeps_shapes = false;
    for(i = 0; i < countof(rt->brunt_kept_shapes); i++) {
        JSShape *sh = rt->brunt_kept_shapes[i];
        rt->brunt_kept_shapes[i] = NULL;
        js_free_shape_null(rt, sh);
    }
    rt->brunt_keeps_shapes = keeps;
}

/* From now on shapes are kept: for code that runs again and again. */
void brunt_keep_shapes(JSRuntime *rt)
{
    rt->brunt_keeps_shapes = true;
}

/* A function object with its length and name, without closure variables yet. */
static JSValue brunt_new_function(JSContext *ctx, JSFunctionBytecode *b)
{
    static const JSShapeProperty shape[] = {
        { 0, JS_PROP_CONFIGURABLE, JS_ATOM_length },
        { 0, JS_PROP_CONFIGURABLE, JS_ATOM_name },
    };
    JSProperty properties[countof(shape)];

    if (!ctx->brunt_function_shape &&
        js_new_shape_with(ctx, &ctx->brunt_function_shape, ctx->class_proto[JS_CLASS_BYTECODE_FUNCTION],
                          countof(shape), shape))
        return JS_EXCEPTION;
    properties[0].u.value = js_int32(b->defined_arg_count);
    properties[1].u.value = JS_AtomToString(ctx, b->func_name == JS_ATOM_NULL ? JS_ATOM_empty_string : b->func_name);
    BRUNT_NOTE_BLOCK(ctx->brunt_function_shape, get_shape_size(2, countof(shape)));
    return JS_NewObjectFromShape(ctx, js_dup_shape(ctx->brunt_function_shape), JS_CLASS_BYTECODE_FUNCTION, properties);
}

/* Names a function that was made nameless, and nothing done to since. false: no such function. */
static bool brunt_name_function(JSContext *ctx, JSValue obj, JSAtom name, int flags)
{
    JSObject *p;
    JSValue *slot;

    if (name == JS_ATOM_NULL || flags != JS_PROP_CONFIGURABLE || !JS_IsObject(obj))
        return false;
    p = JS_VALUE_GET_OBJ(obj);
    if (p->shape != ctx->brunt_function_shape || !ctx->brunt_function_shape)
        return false;
    slot = &p->prop[1].u.value;
    if (JS_VALUE_GET_TAG(*slot) != JS_TAG_STRING || JS_VALUE_GET_STRING(*slot)->len != 0)
        return false;
    JS_FreeValue(ctx, *slot);
    *slot = JS_AtomToString(ctx, name);
    return true;
}
