
/* `Array.prototype.sort` with a function of the script: a stable merge in place that asks nothing but whether the later of
   two elements is less than the earlier one, in the order in which k6's engine asks (runs of 20 by insertion, then the
   SymMerge of Kim and Kutzner). So even functions that contradict themselves, such as `(a, b) => a > b`, lead to the same. */

#define BRUNT_RUN 20

static bool brunt_is_less(struct array_sort_context *psc, const ValueSlot *later, const ValueSlot *earlier)
{
    JSValueConst argv[2] = { later->val, earlier->val };
    JSValue result;
    double value;

    if (psc->exception)
        return false;
    result = JS_Call(psc->ctx, psc->method, JS_UNDEFINED, 2, argv);
    if (JS_VALUE_GET_TAG(result) == JS_TAG_INT)
        return JS_VALUE_GET_INT(result) < 0;
    if (JS_IsException(result) || JS_ToFloat64Free(psc->ctx, &value, result) < 0) {
        psc->exception = 1;
        return false;
    }
    return value < 0;
}

static void brunt_insert(struct array_sort_context *psc, ValueSlot *slots, size_t from, size_t to)
{
    for (size_t next = from + 1; next < to; next++) {
        for (size_t at = next; at > from && brunt_is_less(psc, &slots[at], &slots[at - 1]); at--) {
            ValueSlot moved = slots[at];
            slots[at] = slots[at - 1];
            slots[at - 1] = moved;
        }
    }
}

static void brunt_reverse(ValueSlot *slots, size_t from, size_t to)
{
    for (; from + 1 < to; from++, to--) {
        ValueSlot moved = slots[from];
        slots[from] = slots[to - 1];
        slots[to - 1] = moved;
    }
}

/* `from..middle` and `middle..to` change places */
static void brunt_rotate(ValueSlot *slots, size_t from, size_t middle, size_t to)
{
    brunt_reverse(slots, from, middle);
    brunt_reverse(slots, middle, to);
    brunt_reverse(slots, from, to);
}

/* merges `from..middle` and `middle..to`, both sorted and neither empty; it nests as deep as the logarithm of their length */
static void brunt_merge(struct array_sort_context *psc, ValueSlot *slots, size_t from, size_t middle, size_t to)
{
    size_t low, high, half, sum, last, end;

    if (middle - from == 1) {
        for (low = middle, high = to; low < high;) {
            half = (low + high) / 2;
            if (brunt_is_less(psc, &slots[half], &slots[from]))
                low = half + 1;
            else
                high = half;
        }
        brunt_rotate(slots, from, middle, low);
        return;
    }
    if (to - middle == 1) {
        for (low = from, high = middle; low < high;) {
            half = (low + high) / 2;
            if (brunt_is_less(psc, &slots[middle], &slots[half]))
                high = half;
            else
                low = half + 1;
        }
        brunt_rotate(slots, low, middle, to);
        return;
    }
    half = (from + to) / 2;
    sum = half + middle;
    low = middle > half ? sum - to : from;
    high = middle > half ? half : middle;
    last = sum - 1;
    while (low < high) {
        size_t at = (low + high) / 2;
        if (brunt_is_less(psc, &slots[last - at], &slots[at]))
            high = at;
        else
            low = at + 1;
    }
    end = sum - low;
    if (low < middle && middle < end)
        brunt_rotate(slots, low, middle, end);
    if (from < low && low < half)
        brunt_merge(psc, slots, from, low, half);
    if (half < end && end < to)
        brunt_merge(psc, slots, half, end, to);
}

static void brunt_sort(struct array_sort_context *psc, ValueSlot *slots, size_t count)
{
    size_t from, run;

    for (from = 0; from < count; from += BRUNT_RUN)
        brunt_insert(psc, slots, from, min_int64(from + BRUNT_RUN, count));
    for (run = BRUNT_RUN; run < count && !psc->exception; run *= 2) {
        for (from = 0; from + run < count; from += 2 * run)
            brunt_merge(psc, slots, from, from + run, min_int64(from + 2 * run, count));
    }
}
