/* Work on the heap as a whole, in slices: the interrupt handler lets neighbours run between them. The VM itself does nothing
   meanwhile, and no code frees a value of it: Rust's roots, which may be dropped at any time, free nothing by
   themselves. */

/* Smaller heaps are collected at once, in a few milliseconds. */
#define BRUNT_LARGE_HEAP ((size_t)16 << 20)
/* Objects between two questions to the handler: some twenty microseconds. */
#define BRUNT_BREATH 256

/* Where the next poll is. There is none while the runtime ends. */
static JSContext *brunt_polled(JSRuntime *rt)
{
    if (rt->in_free || !rt->interrupt_handler || list_empty(&rt->context_list))
        return NULL;
    return list_entry(rt->context_list.next, JSContext, link);
}

/* Whether a collection that is due waits for the next poll. It does not wait for long: where nothing polls, the heap grows by an
   eighth of the threshold, and by half of what is left below the limit, at most. */
static bool brunt_put_off(JSRuntime *rt)
{
    size_t size = rt->malloc_state.malloc_size, latest, max = rt->brunt_heap_max;
    JSContext *ctx = brunt_polled(rt);

    if (size < BRUNT_LARGE_HEAP || rt->brunt_breath > 0 || !ctx)
        return false;
    latest = rt->malloc_gc_threshold + rt->malloc_gc_threshold / 8;
    if (max && latest > max - max / 32)
        latest = max - max / 32;
    if (size > latest)
        return false;
    rt->brunt_gc_due = true;
    ctx->interrupt_counter = 0;
    return true;
}

/* A pause. A VM that must stop can't stop in the middle: the rest goes without a pause, and the next poll asks again. */
static no_inline void brunt_let_others(JSRuntime *rt)
{
    JSContext *ctx = brunt_polled(rt);

    if (!ctx)
        return;
    if (rt->interrupt_handler(rt, rt->interrupt_opaque))
        ctx->interrupt_counter = 0;
    else
        rt->brunt_breath = BRUNT_BREATH;
}

/* Whether objects without a reference may wait for the next poll. Close to the limit their memory is wanted at once, unless the
   script is over the limit and about to stop. */
static bool brunt_free_later(JSRuntime *rt)
{
    size_t max = rt->brunt_heap_max;
    JSContext *ctx = brunt_polled(rt);

    if (rt->brunt_breath > 0 || !ctx)
        return false;
    if (max && rt->malloc_state.malloc_size > max / 4 * 3 && !rt->brunt_over)
        return false;
    rt->brunt_frees_due = true;
    ctx->interrupt_counter = 0;
    return true;
}

/* Frees the objects that wait for it. */
static void brunt_free_all(JSRuntime *rt)
{
    struct list_head *list = &rt->gc_zero_ref_count_list;

    rt->brunt_frees_due = false;
    if (list_empty(list))
        return;
    rt->gc_phase = JS_GC_PHASE_DECREF;
    while (!list_empty(list)) {
        JSGCObjectHeader *p = list_entry(list->next, JSGCObjectHeader, link);
        assert(JS_REF_COUNT(p) == 0);
        free_gc_object(rt, p);
        brunt_breathe_out(rt);
    }
    rt->gc_phase = JS_GC_PHASE_NONE;
}

/* Does in slices what was put off. No object may be half made. A VM over its limit is stopped first. */
void brunt_catch_up(JSRuntime *rt)
{
    if (likely(!rt->brunt_gc_due && !rt->brunt_frees_due) || rt->brunt_over)
        return;
    rt->brunt_breath = BRUNT_BREATH;
    brunt_free_all(rt);
    if (rt->brunt_gc_due) {
        rt->brunt_gc_due = false;
        js_trigger_gc(rt, 0);
    }
    rt->brunt_breath = 0;
}

/* The VM is not over its limit any more. */
void brunt_recover(JSRuntime *rt)
{
    rt->brunt_over = false;
    brunt_catch_up(rt);
}

/* Collects in slices. */
void brunt_collect(JSRuntime *rt)
{
    rt->brunt_breath = BRUNT_BREATH;
    JS_RunGC(rt);
    rt->brunt_breath = 0;
    rt->brunt_gc_due = false;
}
