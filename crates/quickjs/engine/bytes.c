/* Byte work, frozen arrays and immutable bytes: patches frozen-arrays, immutable-elements, bytes-at-once. */

/* Whether the iterators of arrays and typed arrays are the engine's own: their next() was not replaced. */
static bool brunt_plain_iterators(JSContext *ctx)
{
    JSValueConst proto = ctx->class_proto[JS_CLASS_ARRAY_ITERATOR];
    JSCFunctionType next = { .iterator_next = js_array_iterator_next };
    JSShapeProperty *prs;
    JSProperty *pr;

    if (!JS_IsObject(proto))
        return false;
    prs = find_own_property(&pr, JS_VALUE_GET_OBJ(proto), JS_ATOM_next);
    if (!prs)
        return false;
    /* not made yet: so not replaced */
    if ((prs->flags & JS_PROP_TMASK) == JS_PROP_AUTOINIT)
        return true;
    return (prs->flags & JS_PROP_TMASK) == JS_PROP_NORMAL && JS_IsCFunction(ctx, pr->u.value, next.generic, 0);
}

/* Whether 'obj' is an array of numbers that is gone through as the language has it, by 'iterator': then no script can
   tell how it is read. */
static bool brunt_is_numbers(JSContext *ctx, JSValueConst obj, JSValueConst iterator, uint32_t *len)
{
    JSCFunctionType values = { .generic_magic = js_create_array_iterator };
    JSValue *elements;
    uint32_t i, count, length;

    if (!JS_IsCFunction(ctx, iterator, values.generic, JS_ITERATOR_KIND_VALUE) ||
        !js_get_fast_array(ctx, unsafe_unconst(obj), &elements, &count) || !brunt_plain_iterators(ctx))
        return false;
    if (js_get_length32(ctx, &length, obj) || length != count)
        return false;
    for (i = 0; i < count; i++) {
        int tag = JS_VALUE_GET_TAG(elements[i]);
        if (tag != JS_TAG_INT && !JS_TAG_IS_FLOAT64(tag))
            return false;
    }
    *len = count;
    return true;
}

/* Stores the elements of an array in an array of bytes, from 'offset' on, as long as they are integers. Returns how many;
   the rest is left to the caller. Runs no script. */
static uint32_t brunt_store_bytes(JSContext *ctx, JSValueConst to, int64_t offset, JSValueConst from, int64_t len)
{
    JSObject *p = JS_VALUE_GET_OBJ(to);
    JSValue *elements;
    uint32_t i, count;
    uint8_t *bytes;

    if (p->class_id != JS_CLASS_UINT8_ARRAY && p->class_id != JS_CLASS_INT8_ARRAY)
        return 0;
    if (!js_get_fast_array(ctx, unsafe_unconst(from), &elements, &count) || typed_array_is_immutable(p))
        return 0;
    if (count > len)
        count = len;
    if (offset < 0 || offset + (int64_t)count > (int64_t)p->u.array.count)
        return 0;
    bytes = p->u.array.u.uint8_ptr + offset;
    for (i = 0; i < count; i++) {
        if (JS_VALUE_GET_TAG(elements[i]) != JS_TAG_INT)
            break;
        bytes[i] = JS_VALUE_GET_INT(elements[i]);
    }
    return i;
}

/* `[...from]`: puts the elements of an array or typed array to the end of 'to', a list that the engine is making, from
   '*at' on. 0: it is neither, or a script could tell the difference; 1: done; -1: exception. */
static int brunt_spread(JSContext *ctx, JSValueConst to, uint32_t *at, JSValueConst from, JSValueConst iterator)
{
    JSCFunctionType of_array = { .generic_magic = js_create_array_iterator };
    JSCFunctionType of_typed = { .generic_magic = js_create_typed_array_iterator };
    JSObject *list, *p;
    uint32_t i, count, length;

    if (!JS_IsObject(from) || !JS_IsObject(to))
        return 0;
    p = JS_VALUE_GET_OBJ(from);
    list = JS_VALUE_GET_OBJ(to);
    if (p->class_id == JS_CLASS_ARRAY) {
        if (!p->fast_array || !JS_IsCFunction(ctx, iterator, of_array.generic, JS_ITERATOR_KIND_VALUE))
            return 0;
        if (js_get_length32(ctx, &length, from) || length != p->u.array.count)
            return 0;
    } else if (is_typed_array(p->class_id)) {
        if (!JS_IsCFunction(ctx, iterator, of_typed.generic, JS_ITERATOR_KIND_VALUE) || typed_array_is_oob(p))
            return 0;
    } else {
        return 0;
    }
    if (!brunt_plain_iterators(ctx) || list->class_id != JS_CLASS_ARRAY || !list->fast_array ||
        list->u.array.count != *at || list == p)
        return 0;
    count = p->u.array.count;
    if (count > INT32_MAX - *at)
        return 0;
    length = *at + count;
    if (length > list->u.array.u1.size && expand_fast_array(ctx, list, length))
        return -1;
    for (i = 0; i < count; i++) {
        JSValue value;
        if (!js_get_fast_array_element(ctx, p, i, &value))
            value = JS_UNDEFINED;
        list->u.array.u.values[*at + i] = value;
        list->u.array.count = *at + i + 1;
        if (JS_IsException(value)) {
            list->u.array.u.values[*at + i] = JS_UNDEFINED;
            return -1;
        }
    }
    list->prop[0].u.value = js_int32(length);
    *at = length;
    return 1;
}

/* Whether the elements of a fast array are read-only. */
static bool brunt_is_frozen(JSObject *p)
{
    if (is_typed_array(p->class_id))
        return p->u.typed_array && p->u.typed_array->buffer->u.array_buffer->immutable == 1;
    return p->brunt_frozen;
}

/* Freezes a value that JSON.parse made, and all in it; buffers and views among it are immutable already. -1: exception. */
int brunt_freeze_json(JSContext *ctx, JSValueConst value)
{
    JSValue *waiting = NULL, sealed;
    size_t count = 0, size = 0;
    uint32_t i, length;
    int result = 0;

    for (;;) {
        if (JS_IsObject(value)) {
            JSObject *p = JS_VALUE_GET_OBJ(value);
            bool is_list = p->class_id == JS_CLASS_ARRAY && p->fast_array;
            length = is_list ? p->u.array.count : p->shape->prop_count;
            for (i = 0; i < length; i++) {
                JSValue inner = is_list ? p->u.array.u.values[i] : p->prop[i].u.value;
                if (!is_list && (get_shape_prop(p->shape)[i].flags & JS_PROP_TMASK) != JS_PROP_NORMAL)
                    continue;
                if (!JS_IsObject(inner))
                    continue;
                if (count == size) {
                    JSValue *more = js_realloc(ctx, waiting, (size * 2 + 16) * sizeof(*waiting));
                    if (!more) {
                        result = -1;
                        goto done;
                    }
                    waiting = more;
                    size = size * 2 + 16;
                }
                waiting[count++] = inner; /* kept alive by what it is in */
            }
            sealed = js_object_seal(ctx, JS_UNDEFINED, 1, &value, 1);
            if (JS_IsException(sealed)) {
                result = -1;
                goto done;
            }
            JS_FreeValue(ctx, sealed);
        }
        if (count == 0)
            break;
        value = waiting[--count];
    }
done:
    js_free(ctx, waiting);
    return result;
}
