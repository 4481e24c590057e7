/* Groups of globals that are made when a script (or Brunt) first asks for one of them. Until then each of their names is
   a property of the global object that makes the whole group: 24 bytes instead of some kB. */
typedef struct BruntGroup {
    int (*add)(JSContext *ctx);
    const char *names[17];
} BruntGroup;

static const BruntGroup brunt_groups[] = {
    [BRUNT_GROUP_DATE] = { JS_AddIntrinsicDate, { "Date" } },
    [BRUNT_GROUP_MAP_SET] = { JS_AddIntrinsicMapSet, { "Map", "Set", "WeakMap", "WeakSet" } },
    [BRUNT_GROUP_TYPED_ARRAYS] = { JS_AddIntrinsicTypedArrays,
      { "ArrayBuffer", "SharedArrayBuffer", "Uint8ClampedArray", "Int8Array", "Uint8Array", "Int16Array", "Uint16Array",
        "Int32Array", "Uint32Array", "BigInt64Array", "BigUint64Array", "Float16Array", "Float32Array", "Float64Array",
        "DataView", "Atomics" } },
    [BRUNT_GROUP_PROXY] = { JS_AddIntrinsicProxy, { "Proxy" } },
    [BRUNT_GROUP_WEAK_REF] = { JS_AddIntrinsicWeakRef, { "WeakRef", "FinalizationRegistry" } },
    [BRUNT_GROUP_DOM_EXCEPTION] = { JS_AddIntrinsicDOMException, { "DOMException" } },
};

_Static_assert(countof(brunt_groups) == BRUNT_GROUP_COUNT, "each group has its entry");

/* Announces a group: 0, or -1 if there is no memory. */
int brunt_announce(JSContext *ctx, int group)
{
    int i, done;

    for (i = 0; i < countof(brunt_groups[group].names) && brunt_groups[group].names[i]; i++) {
        JSAtom name = JS_NewAtom(ctx, brunt_groups[group].names[i]);
        if (name == JS_ATOM_NULL)
            return -1;
        done = JS_DefineAutoInitProperty(ctx, ctx->global_obj, name, JS_AUTOINIT_ID_BYTECODE,
                                         (void *)(uintptr_t)(BRUNT_GROUP_TAG + group),
                                         JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
        JS_FreeAtom(ctx, name);
        if (done < 0)
            return -1;
    }
    return 0;
}

/* Makes a group on an object in place of the global one, and gives the names that still wait on the real one
   their values. 'except' is a name that the caller looks after; its value is returned. No property is added to the
   global object, so its table does not move. */
static JSValue brunt_make(JSContext *ctx, int group, JSAtom except)
{
    const BruntGroup *g = &brunt_groups[group];
    JSValue global = ctx->global_obj;
    JSValue made, result = JS_UNDEFINED;
    bool failed;
    int i;

    made = JS_NewObjectProto(ctx, JS_NULL);
    if (JS_IsException(made))
        return JS_EXCEPTION;
    ctx->global_obj = made;
    /* some of the engine's own lists go on after an error */
    failed = g->add(ctx) || JS_HasException(ctx);
    ctx->global_obj = global;
    for (i = 0; i < countof(g->names) && g->names[i]; i++) {
        JSAtom name = JS_NewAtom(ctx, g->names[i]);
        JSProperty *pr;
        JSShapeProperty *prs = find_own_property(&pr, JS_VALUE_GET_OBJ(global), name);
        JSValue value = failed ? JS_UNDEFINED : JS_GetProperty(ctx, made, name);
        if (JS_IsException(value)) {
            failed = true;
            value = JS_UNDEFINED;
        }
        if (name == except) {
            result = value;
        } else if (prs && (prs->flags & JS_PROP_TMASK) == JS_PROP_AUTOINIT &&
                   js_autoinit_get_id(pr) == JS_AUTOINIT_ID_BYTECODE &&
                   pr->u.init.opaque == (void *)(uintptr_t)(BRUNT_GROUP_TAG + group)) {
            js_autoinit_free(ctx->rt, pr);
            prs->flags &= ~JS_PROP_TMASK;
            pr->u.value = value;
        } else {
            JS_FreeValue(ctx, value);
        }
        JS_FreeAtom(ctx, name);
    }
    JS_FreeValue(ctx, made);
    if (!failed) {
        ctx->brunt_made |= 1u << group;
        return result;
    }
    /* half a group is not made again: it would leak the half */
    ctx->brunt_failed |= 1u << group;
    JS_FreeValue(ctx, result);
    return JS_HasException(ctx) ? JS_EXCEPTION : JS_ThrowOutOfMemory(ctx);
}

/* Makes sure that a group is there, for native code that makes objects of its classes: 0, or -1 and an exception. */
int brunt_need(JSContext *ctx, int group)
{
    if (ctx->brunt_made & (1u << group))
        return 0;
    if (ctx->brunt_failed & (1u << group)) {
        JS_ThrowOutOfMemory(ctx);
        return -1;
    }
    if (js_shape_prepare_update(ctx, JS_VALUE_GET_OBJ(ctx->global_obj), NULL))
        return -1;
    return JS_IsException(brunt_make(ctx, group, JS_ATOM_NULL)) ? -1 : 0;
}
