/* JSON.stringify of plain data: what has neither getters nor toJSON is written at once, without calls, keys as values
   or a list of what is open. Patch json-at-once. */

/* Deeper data, and what contains itself, is the engine's own business. */
#define BRUNT_JSON_DEPTH 100

/* A character of ASCII. */
static inline void brunt_json_put(StringBuffer *b, uint8_t c)
{
    if (likely(b->len < b->size && !b->is_wide_char))
        str8(b->str)[b->len++] = c;
    else
        string_buffer_putc8(b, c);
}

static void brunt_json_string(StringBuffer *b, JSString *p)
{
    static const uint8_t letters[32] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r' };
    const uint8_t *text = str8(p);
    char code[8];
    int i, from = 0, length = p->len;

    for (i = 0; i < length && text[i] >= 32 && text[i] != '"' && text[i] != '\\'; i++)
        ;
    if (likely(i == length && !b->is_wide_char && (int64_t)b->len + length + 2 <= b->size)) {
        uint8_t *out = str8(b->str) + b->len;
        out[0] = '"';
        memcpy(out + 1, text, length);
        out[length + 1] = '"';
        b->len += length + 2;
        return;
    }
    string_buffer_putc8(b, '"');
    for (i = 0; i < length; i++) {
        uint8_t c = text[i];
        if (likely(c >= 32 && c != '"' && c != '\\'))
            continue;
        string_buffer_write8(b, text + from, i - from);
        from = i + 1;
        if (c < 32 && !letters[c]) {
            snprintf(code, sizeof(code), "\\u%04x", c);
            string_buffer_write8(b, (uint8_t *)code, 6);
        } else {
            string_buffer_putc8(b, '\\');
            string_buffer_putc8(b, c < 32 ? letters[c] : c);
        }
    }
    string_buffer_write8(b, text + from, length - from);
    string_buffer_putc8(b, '"');
}

/* Writes a number of at most four decimals, as most are that people write: `out` has room for it. 0: it has more.
   Decimals of up to 15 digits are different numbers, so the fewest that give this number back are its shortest form. */
static int brunt_json_decimal(char *out, double number)
{
    static const int64_t tens[] = { 1, 10, 100, 1000, 10000 };
    int64_t scaled, rest;
    char *at = out;
    int places, i;

    if (!(fabs(number) < 1e9))
        return 0;
    for (places = 0; places < countof(tens); places++) {
        scaled = (int64_t)(number * tens[places]);
        if ((double)scaled == number * tens[places] && (double)scaled / tens[places] == number)
            break;
    }
    if (places == countof(tens))
        return 0;
    /* 0.07 * 100 is not 7, but 0.07 * 1000 is 70. */
    for (; places > 0 && scaled % 10 == 0; places--)
        scaled /= 10;
    if (scaled < 0) {
        *at++ = '-';
        scaled = -scaled;
    }
    at += u32toa(at, (uint32_t)(scaled / tens[places]));
    if (places > 0) {
        *at++ = '.';
        rest = scaled % tens[places];
        for (i = places; i > 0; i--, rest /= 10)
            at[i - 1] = '0' + rest % 10;
        at += places;
    }
    return at - out;
}

/* Writes `value`. false: it is not plain, or there is no memory; what was written is of no use. */
static bool brunt_json_value(JSContext *ctx, StringBuffer *b, JSValueConst value, int depth)
{
    JSDTOATempMem memory;
    JSObject *p;
    JSShape *sh;
    JSShapeProperty *prs;
    JSValue quoted;
    char digits[128];
    uint32_t i;
    int length;
    bool is_first = true;

    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_NULL:
        return !string_buffer_write8(b, (const uint8_t *)"null", 4);
    case JS_TAG_BOOL:
        if (JS_VALUE_GET_BOOL(value))
            return !string_buffer_write8(b, (const uint8_t *)"true", 4);
        return !string_buffer_write8(b, (const uint8_t *)"false", 5);
    case JS_TAG_INT:
        return !string_buffer_write8(b, (uint8_t *)digits, i32toa(digits, JS_VALUE_GET_INT(value)));
    case JS_TAG_FLOAT64:
        if (!isfinite(JS_VALUE_GET_FLOAT64(value)))
            return !string_buffer_write8(b, (const uint8_t *)"null", 4);
        length = brunt_json_decimal(digits, JS_VALUE_GET_FLOAT64(value));
        if (length > 0)
            return !string_buffer_write8(b, (uint8_t *)digits, length);
        if (js_dtoa_max_len(JS_VALUE_GET_FLOAT64(value), 10, 0, JS_DTOA_FORMAT_FREE) >= sizeof(digits))
            return false;
        return !string_buffer_write8(b, (uint8_t *)digits,
            js_dtoa(digits, JS_VALUE_GET_FLOAT64(value), 10, 0, JS_DTOA_FORMAT_FREE, &memory));
    case JS_TAG_STRING:
        if (!JS_VALUE_GET_STRING(value)->is_wide_char) {
            brunt_json_string(b, JS_VALUE_GET_STRING(value));
            return !b->error_status;
        }
    case JS_TAG_STRING_ROPE: /* fall through */
        quoted = JS_ToQuotedString(ctx, value);
        if (JS_IsException(quoted)) {
            JS_FreeValue(ctx, JS_GetException(ctx)); /* no memory: the engine's own way will say so */
            return false;
        }
        return !string_buffer_concat_value_free(b, quoted);
    case JS_TAG_OBJECT:
        break;
    default:
        return false;
    }

    p = JS_VALUE_GET_OBJ(value);
    sh = p->shape;
    prs = get_shape_prop(sh);
    if (depth >= BRUNT_JSON_DEPTH || js_check_stack_overflow(ctx->rt, 0))
        return false;
    if (p->class_id == JS_CLASS_ARRAY) {
        if (!p->fast_array || sh->prop_count != 1 ||
            sh->proto != JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_ARRAY]) ||
            JS_VALUE_GET_TAG(p->prop[0].u.value) != JS_TAG_INT ||
            (uint32_t)JS_VALUE_GET_INT(p->prop[0].u.value) != p->u.array.count)
            return false;
        brunt_json_put(b, '[');
        for (i = 0; i < p->u.array.count; i++) {
            JSValueConst inner = p->u.array.u.values[i];
            if (brunt_is_stopped(ctx, 1)) /* the engine's own way will say so */
                return false;
            if (i > 0)
                brunt_json_put(b, ',');
            if (JS_IsUndefined(inner))
                inner = JS_NULL;
            if (!brunt_json_value(ctx, b, inner, depth + 1))
                return false;
        }
        return !string_buffer_putc8(b, ']');
    }
    if (p->class_id != JS_CLASS_OBJECT || p->is_exotic ||
        (sh->proto && sh->proto != JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_OBJECT])))
        return false;
    brunt_json_put(b, '{');
    for (i = 0; i < sh->prop_count; i++) {
        JSAtom atom = prs[i].atom;
        JSString *name;
        if (atom == JS_ATOM_NULL) /* deleted */
            continue;
        /* Indexes stand before the other keys. */
        if (atom == JS_ATOM_toJSON || __JS_AtomIsTaggedInt(atom) || (prs[i].flags & JS_PROP_TMASK) != JS_PROP_NORMAL)
            return false;
        name = ctx->rt->atom_array[atom];
        if (name->atom_type != JS_ATOM_TYPE_STRING || !(prs[i].flags & JS_PROP_ENUMERABLE))
            continue;
        if (name->is_wide_char || (name->len > 0 && str8(name)[0] >= '0' && str8(name)[0] <= '9'))
            return false;
        if (JS_IsUndefined(p->prop[i].u.value))
            continue;
        if (!is_first)
            brunt_json_put(b, ',');
        is_first = false;
        brunt_json_string(b, name);
        brunt_json_put(b, ':');
        if (!brunt_json_value(ctx, b, p->prop[i].u.value, depth + 1))
            return false;
    }
    return !string_buffer_putc8(b, '}');
}

/* No toJSON comes from a prototype of plain data. */
static bool brunt_json_is_plain(JSContext *ctx)
{
    JSObject *array = JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_ARRAY]);
    JSObject *object = JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_OBJECT]);

    return array->shape->proto == object && !object->shape->proto &&
        !find_own_property1(array, JS_ATOM_toJSON) && !find_own_property1(object, JS_ATOM_toJSON);
}

/* JSON.stringify(value), if the value is plain data, else JS_UNINITIALIZED. Runs no script and throws nothing. */
static JSValue brunt_json(JSContext *ctx, JSValueConst value)
{
    StringBuffer b_s, *b = &b_s;
    JSValue text;

    if (!JS_IsObject(value) || !brunt_json_is_plain(ctx))
        return JS_UNINITIALIZED;
    if (!string_buffer_init(ctx, b, 512) && brunt_json_value(ctx, b, value, 0)) {
        text = string_buffer_end(b);
        if (!JS_IsException(text))
            return text;
    } else {
        string_buffer_free(b);
    }
    if (b->error_status)
        JS_FreeValue(ctx, JS_GetException(ctx)); /* no memory: the engine's own way will say so */
    return JS_UNINITIALIZED;
}

/* JSON.stringify(value). For each object that is neither plain nor an array `ask` says what is written for it: a number, put
   between two bytes 1; -1, what JSON has for it; or -2, an exception. */
JSValue brunt_stringify(JSContext *ctx, JSValueConst value, int (*ask)(void *opaque, JSValueConst val), void *opaque)
{
    BruntAsked asked = { .ask = ask, .opaque = opaque };
    JSValue text;

    brunt_asked = &asked;
    text = JS_JSONStringify(ctx, value, JS_UNDEFINED, JS_UNDEFINED);
    brunt_asked = NULL;
    return text;
}
