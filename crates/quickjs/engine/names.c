/* The strings of the names that every context has (the engine's own, and those of the built-in functions) once per
   thread instead of once per runtime: 28 kB. A thread's runtimes share them by plain reference counts, which never reach
   zero: one reference is the table's own. Symbols are not shared, because a weak map may hang records on them.

   brunt-names.h, the names of the built-in functions, is gathered by build.rs from the engine's own lists. A name that is
   missing there costs memory, nothing else. */
#include "brunt-names.h"

#define BRUNT_OWN_END JS_ATOM_Private_brand /* the engine's own names: 1 up to here */
#define BRUNT_MORE JS_ATOM_END              /* then come symbols, and here begin those of functions */
#define BRUNT_MORE_END (BRUNT_MORE + BRUNT_NAME_COUNT)
#define BRUNT_HASH_SIZE 512 /* a power of two; no runtime has a smaller table */

struct BruntAtoms {
    size_t runtimes;                  /* how many use it; the last one frees it */
    uint32_t hash[BRUNT_HASH_SIZE];   /* as JSRuntime.atom_hash: the first name of each chain */
    JSAtomStruct *strings[BRUNT_MORE_END];
    uint64_t memory[]; /* the strings, each behind the header that every block of the engine has */
};

static _Thread_local struct BruntAtoms *brunt_atoms;

static size_t brunt_atom_room(size_t len)
{
    return (sizeof(JSMallocBlockHeader) + sizeof(JSAtomStruct) + len + 1 + 7) & ~(size_t)7;
}

/* The name after this one, in order of the atoms. */
static const char *brunt_next_name(const char *name, int *atom)
{
    if (++*atom == BRUNT_OWN_END) {
        *atom = BRUNT_MORE;
        return brunt_names;
    }
    return name + strlen(name) + 1;
}

static bool brunt_share_atoms(JSRuntime *rt)
{
    struct BruntAtoms *shared = brunt_atoms;
    const char *name;
    uint8_t *place;
    size_t room = 0;
    int i;

    if (shared) {
        shared->runtimes++;
        return true;
    }
    for (i = 1, name = js_atom_init; i < BRUNT_MORE_END; name = brunt_next_name(name, &i))
        room += brunt_atom_room(strlen(name));
    shared = rt->mf.js_calloc(rt->malloc_state.opaque, 1, sizeof(*shared) + room);
    if (!shared)
        return false;
    shared->runtimes = 1;
    place = (uint8_t *)shared->memory;
    for (i = 1, name = js_atom_init; i < BRUNT_MORE_END; name = brunt_next_name(name, &i)) {
        JSMallocBlockHeader *block = (JSMallocBlockHeader *)place;
        JSAtomStruct *string = (JSAtomStruct *)block->user_data;
        uint32_t *chain;

        block->u.block_idx = JS_ARENA_FREE_NIL;
        block->block_size_idx = 0xff;
        block->ref_count = 1;
        string->len = strlen(name);
        string->kind = JS_STRING_KIND_NORMAL;
        string->atom_type = JS_ATOM_TYPE_STRING;
        memcpy(str8(string), name, string->len);
        string->hash = hash_string(string, JS_ATOM_TYPE_STRING) & JS_ATOM_HASH_MASK;
        chain = &shared->hash[string->hash & (BRUNT_HASH_SIZE - 1)];
        string->hash_next = *chain;
        *chain = i;
        shared->strings[i] = string;
        place += brunt_atom_room(string->len);
    }
    brunt_atoms = shared;
    return true;
}

static void brunt_unshare_atoms(JSRuntime *rt)
{
    struct BruntAtoms *shared = brunt_atoms;

    if (--shared->runtimes == 0) {
        brunt_atoms = NULL;
        rt->mf.js_free(rt->malloc_state.opaque, shared);
    }
}

/* Whether a runtime shares this name's string with others. */
static bool brunt_is_shared(int atom)
{
    return (atom > 0 && atom < BRUNT_OWN_END) || (atom >= BRUNT_MORE && atom < BRUNT_MORE_END);
}

/* Fills a fresh hash table of a runtime: every chain ends in the shared chain with the same low bits of the hash. The
   shared strings come last in it, are never taken out, and so their links never change. */
static void brunt_fill_hash(uint32_t *hash, int size)
{
    int i;

    assert(size >= BRUNT_HASH_SIZE);
    for (i = 0; i < size; i++)
        hash[i] = brunt_atoms->hash[i & (BRUNT_HASH_SIZE - 1)];
}

/* In place of the rest of JS_InitAtoms. */
static int brunt_init_atoms(JSRuntime *rt)
{
    const int size = BRUNT_MORE_END + 64; /* room for the names of a small script */
    const char *name;
    JSAtomStruct *null;
    int i;

    if (!brunt_share_atoms(rt))
        return -1;
    if (JS_ResizeAtomHash(rt, BRUNT_HASH_SIZE)) {
        brunt_unshare_atoms(rt);
        return -1;
    }
    null = js_mallocz_rt(rt, sizeof(JSAtomStruct));
    rt->atom_array = js_malloc_rt(rt, size * sizeof(rt->atom_array[0]));
    if (!null || !rt->atom_array) {
        js_free_rt(rt, null);
        return -1;
    }
    JS_REF_COUNT(null) = 1; /* not counted */
    null->atom_type = JS_ATOM_TYPE_SYMBOL;
#ifdef ENABLE_DUMPS
    list_add_tail(&null->link, &rt->string_list);
#endif
    rt->atom_array[0] = null;
    rt->atom_size = size;
    rt->atom_count = 1 + (BRUNT_OWN_END - 1) + BRUNT_NAME_COUNT;
    for (i = 1; i < BRUNT_MORE_END; i++)
        rt->atom_array[i] = brunt_atoms->strings[i];
    for (i = BRUNT_MORE_END; i < size; i++)
        rt->atom_array[i] = atom_set_free(i + 1 < size ? i + 1 : 0);
    /* the symbols are taken from the list of free atoms, which is for now theirs only */
    for (i = BRUNT_OWN_END; i < JS_ATOM_END; i++)
        rt->atom_array[i] = atom_set_free(i + 1 < JS_ATOM_END ? i + 1 : BRUNT_MORE_END);
    rt->atom_free_index = BRUNT_OWN_END;
    for (i = 1, name = js_atom_init; i < JS_ATOM_END; i++, name += strlen(name) + 1) {
        int type = i == JS_ATOM_Private_brand ? JS_ATOM_TYPE_PRIVATE : JS_ATOM_TYPE_SYMBOL;
        if (i >= BRUNT_OWN_END && __JS_NewAtomInit(rt, name, strlen(name), type) == JS_ATOM_NULL)
            return -1;
    }
    return 0;
}
