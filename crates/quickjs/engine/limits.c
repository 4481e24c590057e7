/* Here end the functions that ask: see polls.c. The functions below call the engine's own. */
#undef JS_GetPropertyUint32
#undef JS_GetPropertyInt64
#undef JS_TryGetPropertyInt64
#undef JS_SetPropertyInt64
#undef JS_CreateDataPropertyUint32
#undef JS_DefinePropertyValueInt64
#undef JS_DeletePropertyInt64
#undef JS_IteratorNext
#undef js_strict_eq2
#undef string_buffer_putc
#undef string_buffer_putc16
#undef string_buffer_concat
#undef string_buffer_write8
#undef string_buffer_fill
#undef string_indexof
#undef string_cmp
#undef JS_RegExpExec

/* Asked when the heap would be larger than was promised: 'used' bytes are in use, 'size' more are wanted. The answer is
   the new promise, or 0: there are none. */
static size_t (*brunt_ask_more)(JSRuntime *rt, size_t used, size_t size);

void brunt_set_more(size_t (*ask)(JSRuntime *rt, size_t used, size_t size))
{
    brunt_ask_more = ask;
}

static bool brunt_more(JSRuntime *rt, size_t size)
{
    size_t promise;

    if (!brunt_ask_more)
        return false;
    promise = brunt_ask_more(rt, rt->malloc_state.malloc_size, size);
    if (promise == 0)
        return false;
    rt->malloc_state.malloc_limit = promise;
    return true;
}

/* How many bytes the heap may have before more are asked for, and before which size garbage is collected. */
void brunt_promise(JSRuntime *rt, size_t promise, size_t max)
{
    rt->malloc_state.malloc_limit = promise;
    rt->brunt_heap_max = max;
    if (max && rt->malloc_gc_threshold > max - max / 16 && rt->malloc_gc_threshold != SIZE_MAX)
        rt->malloc_gc_threshold = max - max / 16;
}

/* Memory of Rust that lives and dies with values of the heap: 'less' bytes are gone, 'more' have come. */
void brunt_account(JSRuntime *rt, size_t less, size_t more)
{
    rt->malloc_state.malloc_size += more - less;
    if (more > less && rt->malloc_state.malloc_size > rt->malloc_state.malloc_limit - 1)
        brunt_more(rt, 0);
}

/* Whether that many bytes more may be used. */
bool brunt_may_take(JSRuntime *rt, size_t size)
{
    return rt->malloc_state.malloc_size + size <= rt->malloc_state.malloc_limit - 1 || brunt_more(rt, size);
}

/* The VM is over its limit, until brunt_recover: the next poll asks the handler, which stops what runs. */
void brunt_is_over(JSContext *ctx)
{
    ctx->rt->brunt_over = true;
    ctx->interrupt_counter = 0;
}

/* For long work of Rust: whether it must stop, with an exception that no script catches. */
bool brunt_poll(JSContext *ctx, int cost)
{
    return brunt_breathe(ctx, cost);
}


/* Work of Rust that did not ask: the next poll comes the sooner. */
void brunt_count(JSContext *ctx, size_t cost)
{
    int left = ctx->interrupt_counter;

    if (left > 0)
        ctx->interrupt_counter = cost < (size_t)left ? left - (int)cost : 0;
}
