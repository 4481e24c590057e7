//! Sorting with a function of the script: as k6's engine does. `sorting.c` has the functions.

use super::adjustments::Adjustment;

pub(crate) const SORTING: &[Adjustment] = &[
    Adjustment {
        file: "quickjs.c",
        find: "static JSValue js_array_sort(JSContext *ctx, JSValueConst this_val,\n                             int argc, JSValueConst *argv)\n{\n",
        put: "static void brunt_sort(struct array_sort_context *psc, ValueSlot *slots, size_t count);\n\n\
              static JSValue js_array_sort(JSContext *ctx, JSValueConst this_val,\n                             int argc, JSValueConst *argv)\n{\n",
        times: 1,
    },
    Adjustment {
        file: "quickjs.c",
        find: "    rqsort(array, pos, sizeof(*array), js_array_cmp_generic, &asc);\n",
        put: "    if (asc.has_method)\n        brunt_sort(&asc, array, pos);\n    else\n        \
              rqsort(array, pos, sizeof(*array), js_array_cmp_generic, &asc);\n",
        times: 1,
    },
];
