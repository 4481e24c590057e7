/* Native loops that ask whether they must stop; Brunt's handler lets neighbours run meanwhile. Between this place and the end
   of quickjs.c the functions below stand for those that loops over elements, iterators and texts are made of. */

/* Whether what runs must stop now. It throws nothing: the next poll of the interpreter does, before any script runs. */
static no_inline bool brunt_breathe_now(JSContext *ctx)
{
    JSRuntime *rt = ctx->rt;

    ctx->interrupt_counter = JS_INTERRUPT_COUNTER_INIT;
    if (!rt->interrupt_handler || !rt->interrupt_handler(rt, rt->interrupt_opaque))
        return false;
    ctx->interrupt_counter = 0;
    return true;
}

/* The same, asked when `cost` operations more are too many. */
static inline bool brunt_is_stopped(JSContext *ctx, int cost)
{
    ctx->interrupt_counter -= cost;
    return unlikely(ctx->interrupt_counter <= 0) && brunt_breathe_now(ctx);
}

/* The same, with an exception that no script catches. */
static inline bool brunt_breathe(JSContext *ctx, int cost)
{
    ctx->interrupt_counter -= cost;
    return unlikely(ctx->interrupt_counter <= 0) && __js_poll_interrupts(ctx);
}

static inline JSValue brunt_get_int64(JSContext *ctx, JSValueConst obj, int64_t idx)
{
    return brunt_breathe(ctx, 1) ? JS_EXCEPTION : JS_GetPropertyInt64(ctx, obj, idx);
}

static inline int brunt_try_get_int64(JSContext *ctx, JSValueConst obj, int64_t idx, JSValue *pval)
{
    if (brunt_breathe(ctx, 1)) {
        *pval = JS_EXCEPTION;
        return -1;
    }
    return JS_TryGetPropertyInt64(ctx, obj, idx, pval);
}

static inline int brunt_set_int64(JSContext *ctx, JSValueConst obj, int64_t idx, JSValue val)
{
    if (brunt_breathe(ctx, 1)) {
        JS_FreeValue(ctx, val);
        return -1;
    }
    return JS_SetPropertyInt64(ctx, obj, idx, val);
}

static inline int brunt_create_uint32(JSContext *ctx, JSValueConst obj, int64_t idx, JSValue val, int flags)
{
    if (brunt_breathe(ctx, 1)) {
        JS_FreeValue(ctx, val);
        return -1;
    }
    return JS_CreateDataPropertyUint32(ctx, obj, idx, val, flags);
}

static inline int brunt_define_int64(JSContext *ctx, JSValueConst obj, int64_t idx, JSValue val, int flags)
{
    if (brunt_breathe(ctx, 1)) {
        JS_FreeValue(ctx, val);
        return -1;
    }
    return JS_DefinePropertyValueInt64(ctx, obj, idx, val, flags);
}

static inline int brunt_delete_int64(JSContext *ctx, JSValueConst obj, int64_t idx, int flags)
{
    return brunt_breathe(ctx, 1) ? -1 : JS_DeletePropertyInt64(ctx, obj, idx, flags);
}

static inline JSValue brunt_iterator_next(JSContext *ctx, JSValueConst obj, JSValueConst method, int argc,
                                          JSValueConst *argv, int *pdone)
{
    if (brunt_breathe(ctx, 1)) {
        *pdone = false;
        return JS_EXCEPTION;
    }
    return JS_IteratorNext(ctx, obj, method, argc, argv, pdone);
}

/* A text that was given up is like one for which there was no memory. */
static inline int brunt_text_goes_on(StringBuffer *s, int cost)
{
    if (unlikely(s->error_status))
        return -1;
    return brunt_breathe(s->ctx, cost) ? string_buffer_set_error(s) : 0;
}

static inline int brunt_putc(StringBuffer *s, uint32_t c)
{
    return brunt_text_goes_on(s, 1) ? -1 : string_buffer_putc(s, c);
}

static inline int brunt_putc16(StringBuffer *s, uint32_t c)
{
    return brunt_text_goes_on(s, 1) ? -1 : string_buffer_putc16(s, c);
}

static inline int brunt_concat(StringBuffer *s, JSString *p, uint32_t from, uint32_t to)
{
    return brunt_text_goes_on(s, 1 + (to > from ? (to - from) >> 8 : 0)) ? -1 : string_buffer_concat(s, p, from, to);
}

static inline int brunt_write8(StringBuffer *s, const uint8_t *p, int len)
{
    return brunt_text_goes_on(s, 1 + (len >> 8)) ? -1 : string_buffer_write8(s, p, len);
}

static int brunt_fill(StringBuffer *s, int c, int count)
{
    for (; count > 65536; count -= 65536) {
        if (brunt_text_goes_on(s, 1000) || string_buffer_fill(s, c, 65536))
            return -1;
    }
    return string_buffer_fill(s, c, count);
}

/* An element that was looked at in vain; whoever must stop has found it. */
static inline bool brunt_strict_eq(JSContext *ctx, JSValueConst a, JSValueConst b, JSStrictEqModeEnum mode)
{
    return brunt_is_stopped(ctx, 1) || js_strict_eq2(ctx, a, b, mode);
}

#include <setjmp.h>

typedef struct BruntOrder {
    JSContext *ctx;
    int (*compare)(const void *a, const void *b, void *opaque);
    void *opaque;
    jmp_buf stop;
} BruntOrder;

static int brunt_compare(const void *a, const void *b, void *opaque)
{
    BruntOrder *order = opaque;

    if (brunt_is_stopped(order->ctx, 1))
        longjmp(order->stop, 1);
    return order->compare(a, b, order->opaque);
}

/* rqsort, left in the middle when it must stop; true: with an exception that no script catches. rqsort holds nothing. */
static bool brunt_rqsort(JSContext *ctx, void *base, size_t count, size_t size,
                         int (*compare)(const void *a, const void *b, void *opaque), void *opaque)
{
    BruntOrder order = { .ctx = ctx, .compare = compare, .opaque = opaque };

    if (setjmp(order.stop)) {
        JS_ThrowInterrupted(ctx);
        return true;
    }
    rqsort(base, count, size, brunt_compare, &order);
    return false;
}

#define JS_GetPropertyUint32(ctx, obj, idx) brunt_get_int64(ctx, obj, (uint32_t)(idx))
#define JS_GetPropertyInt64 brunt_get_int64
#define JS_TryGetPropertyInt64 brunt_try_get_int64
#define JS_SetPropertyInt64 brunt_set_int64
#define JS_CreateDataPropertyUint32 brunt_create_uint32
#define JS_DefinePropertyValueInt64 brunt_define_int64
#define JS_DeletePropertyInt64 brunt_delete_int64
#define JS_IteratorNext brunt_iterator_next
#define js_strict_eq2 brunt_strict_eq
#define string_buffer_putc brunt_putc
#define string_buffer_putc16 brunt_putc16
#define string_buffer_concat brunt_concat
#define string_buffer_write8 brunt_write8
#define string_buffer_fill brunt_fill

