/* Which lines of memory a stretch of code touches: patch touched. */
#define BRUNT_LINE 64 /* bytes */
#define BRUNT_TOUCHED_MAX 256
#define BRUNT_TOUCHED_SLOTS 1024 /* a power of two */
#define BRUNT_NOTES_MAX 16384

struct BruntTouched {
    uint32_t count;
    uintptr_t lines[BRUNT_TOUCHED_MAX];     /* address / BRUNT_LINE, in the order in which they were touched first */
    uintptr_t slots[BRUNT_TOUCHED_SLOTS];   /* the same, for finding them */
};

/* Linked into programs only: its place is known when they start, and asking for it is no call. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct BruntTouched *brunt_touched;
static _Thread_local uint32_t brunt_notes; /* since it is watched */

/* The list that is written; NULL: none. */
void brunt_watch(struct BruntTouched *touched)
{
    brunt_touched = touched;
    brunt_notes = 0;
}

void brunt_note(const void *start, size_t size)
{
    struct BruntTouched *touched = brunt_touched;
    uintptr_t line = (uintptr_t)start / BRUNT_LINE, end = ((uintptr_t)start + size + BRUNT_LINE - 1) / BRUNT_LINE;

    if (!touched)
        return;
    /* A script that computes for long touches the same again and again, and is not to be slowed down by that. */
    if (touched->count == BRUNT_TOUCHED_MAX || ++brunt_notes > BRUNT_NOTES_MAX) {
        brunt_touched = NULL;
        return;
    }
    for(; line < end && touched->count < BRUNT_TOUCHED_MAX; line++) {
        size_t slot = (line * UINT64_C(0x9E3779B97F4A7C15)) >> 54;
        while (touched->slots[slot] && touched->slots[slot] != line)
            slot = (slot + 1) % BRUNT_TOUCHED_SLOTS;
        if (!touched->slots[slot]) {
            touched->slots[slot] = line;
            touched->lines[touched->count++] = line;
        }
    }
}

static inline void brunt_note_block(const void *start, size_t size)
{
    brunt_note((const uint8_t *)start - sizeof(JSMallocBlockHeader), sizeof(JSMallocBlockHeader) + size);
}

/* The second: a block of the engine's heap, with the header before it. */
#define BRUNT_NOTE(start, size) do { if (unlikely(brunt_touched != NULL)) brunt_note(start, size); } while (0)
#define BRUNT_NOTE_BLOCK(start, size) do { if (unlikely(brunt_touched != NULL)) brunt_note_block(start, size); } while (0)

