/* Buffers whose bytes somebody else holds too: patches lent-buffers, lent-strings. Their memory is Rust's: 'realloc_func' is its function,
   which with the size BRUNT_OWN makes the bytes the buffer's own and returns where they lie; so it makes the bytes of a
   late buffer. */

/* Makes the bytes of a late buffer, which may be any buffer. Runs no script. false: they can't be made. */
static bool brunt_is_made(JSArrayBuffer *abuf)
{
    uint8_t *data;

    if (abuf->immutable != BRUNT_LATE)
        return true;
    if (!abuf->detached) {
        data = abuf->realloc_func(NULL, abuf->opaque, abuf->data, BRUNT_OWN);
        if (!data)
            return false;
        abuf->data = data;
    }
    abuf->immutable = 0;
    return true;
}

/* The same, with an exception. */
static bool brunt_look(JSContext *ctx, JSArrayBuffer *abuf)
{
    if (likely(brunt_is_made(abuf)))
        return true;
    JS_ThrowOutOfMemory(ctx);
    return false;
}

/* Whether a write must be refused. Lent bytes become the buffer's own instead: they may move. Runs no script. */
static bool brunt_is_immutable(JSArrayBuffer *abuf)
{
    uint8_t *data;

    if (abuf->immutable == BRUNT_LATE)
        return !brunt_is_made(abuf);
    if (abuf->immutable != BRUNT_LENT)
        return abuf->immutable != 0;
    if (abuf->detached) {
        abuf->immutable = 0;
        return false;
    }
    data = abuf->realloc_func(NULL, abuf->opaque, abuf->data, BRUNT_OWN);
    if (!data)
        return true;
    abuf->immutable = 0;
    if (data != abuf->data) {
        abuf->data = data;
        js_array_buffer_update_typed_arrays(abuf);
    }
    return false;
}

/* The buffer of an ArrayBuffer, typed array or DataView, if its bytes can be lent: not when it was detached, is shared
   by threads or can be resized. */
static JSArrayBuffer *brunt_lendable(JSValueConst obj)
{
    JSArrayBuffer *abuf = NULL;
    JSObject *p;

    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)
        return NULL;
    p = JS_VALUE_GET_OBJ(obj);
    if (p->class_id == JS_CLASS_ARRAY_BUFFER)
        abuf = p->u.array_buffer;
    else if ((is_typed_array(p->class_id) || p->class_id == JS_CLASS_DATAVIEW) && p->u.typed_array)
        abuf = p->u.typed_array->buffer->u.array_buffer;
    if (!abuf || abuf->detached || abuf->shared || array_buffer_is_resizable(abuf))
        return NULL;
    return abuf;
}

/* Tells of the whole buffer behind 'obj' where its bytes lie, and, if their memory is that of 'ours', what it is known
   by there (else NULL). false: its bytes cannot be lent. */
bool brunt_buffer(JSValueConst obj, JSReallocArrayBufferDataFunc *ours, void **opaque, uint8_t **data, size_t *length)
{
    JSArrayBuffer *abuf = brunt_lendable(obj);

    if (!abuf)
        return false;
    *opaque = abuf->realloc_func == ours ? abuf->opaque : NULL;
    *data = abuf->data;
    *length = abuf->byte_length;
    return true;
}

/* From now on the bytes of the buffer behind 'obj' are lent. Unless 'opaque' is NULL they are replaced by 'data', which
   has the same content and is memory of 'ours'. Immutable buffers stay so. */
void brunt_lend(JSRuntime *rt, JSValueConst obj, JSReallocArrayBufferDataFunc *ours, void *opaque, uint8_t *data)
{
    JSArrayBuffer *abuf = brunt_lendable(obj);

    if (opaque) {
        if (abuf->realloc_func)
            abuf->realloc_func(rt, abuf->opaque, abuf->data, 0);
        abuf->realloc_func = ours;
        abuf->opaque = opaque;
        abuf->data = data;
        js_array_buffer_update_typed_arrays(abuf);
    }
    if (!abuf->immutable)
        abuf->immutable = BRUNT_LENT;
}

/* From now on the bytes of a buffer, which is Rust's and has no views, are made when somebody looks at them. */
void brunt_make_late(JSValueConst obj)
{
    JSArrayBuffer *abuf = brunt_lendable(obj);

    if (abuf)
        abuf->immutable = BRUNT_LATE;
}

/* Makes a buffer immutable for good, and frozen. */
void brunt_freeze_bytes(JSValueConst obj)
{
    JSArrayBuffer *abuf = brunt_lendable(obj);

    if (!abuf)
        return;
    abuf->immutable = 1;
    JS_VALUE_GET_OBJ(obj)->extensible = false;
}

static void brunt_release(JSString *str)
{
    BruntLentString *lent = (void *)&str[1];

    lent->release(lent->owner);
}

/* A string of 'len' letters of one or two bytes that lie at 'data' as long as 'release' was not called with 'owner'. Their
   number is large enough that no place takes the string for a short one. */
JSValue brunt_lent_string(JSContext *ctx, const void *data, uint32_t len, bool is_wide, void *owner,
                          void (*release)(void *owner))
{
    BruntLentString *lent;
    JSString *str;

    str = js_alloc_string(ctx, sizeof(*lent) / 2, /*is_wide_char*/true);
    if (!str)
        return JS_EXCEPTION;
    str->is_wide_char = is_wide;
    str->kind = BRUNT_STRING_KIND_LENT;
    str->len = len;
    lent = (void *)&str[1];
    lent->data = data;
    lent->owner = owner;
    lent->release = release;
    return JS_MKPTR(JS_TAG_STRING, str);
}

/* The owner of a lent string's letters, if 'release' is its function; NULL for all other values. */
void *brunt_string_owner(JSValueConst val, void (*release)(void *owner))
{
    BruntLentString *lent;
    JSString *str;

    if (JS_VALUE_GET_TAG(val) != JS_TAG_STRING)
        return NULL;
    str = JS_VALUE_GET_STRING(val);
    if (str->kind != BRUNT_STRING_KIND_LENT)
        return NULL;
    lent = (void *)&str[1];
    return lent->release == release ? lent->owner : NULL;
}
