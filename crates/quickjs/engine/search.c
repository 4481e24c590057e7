/* string_indexof, in steps between which it asks whether it must stop: then there is nothing. */
static int brunt_indexof(JSContext *ctx, JSString *p1, JSString *p2, int from)
{
    int c, i, end, last = p1->len - p2->len, len2 = p2->len;

    if (len2 == 0)
        return from;
    c = string_get(p2, 0);
    if (!p1->is_wide_char && c > 0xff)
        return -1;
    for (i = from; i <= last; i++) {
        end = last - i > 65536 ? i + 65536 : last + 1;
        if (p1->is_wide_char) {
            const uint16_t *text = str16(p1);
            while (i < end && text[i] != c)
                i++;
        } else {
            const uint8_t *at = memchr(str8(p1) + i, c, end - i);
            i = at ? at - str8(p1) : end;
        }
        if (i < end) {
            if (!string_cmp(p1, p2, i + 1, 1, len2 - 1))
                return i;
            if (brunt_is_stopped(ctx, 1 + (len2 >> 8)))
                return -1;
        } else {
            i--;
            if (brunt_is_stopped(ctx, 1000))
                return -1;
        }
    }
    return -1;
}

/* A search that must stop counts as a match. */
static inline int brunt_string_cmp(JSContext *ctx, JSString *p1, JSString *p2, int x1, int x2, int len)
{
    return brunt_is_stopped(ctx, 1 + (len >> 8)) ? 0 : string_cmp(p1, p2, x1, x2, len);
}

#define string_indexof(p1, p2, from) brunt_indexof(ctx, p1, p2, from)
#define string_cmp(p1, p2, x1, x2, len) brunt_string_cmp(ctx, p1, p2, x1, x2, len)

