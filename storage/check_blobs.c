/* storage/check_blobs.c - every long body is somebody's, and no two records' or rows'. Records are in another order than blobs, so
 * a bit for each blob says that somebody refers to it. There is memory for very many; of more, one window after the other. */
#include <stdlib.h>

#include "base/bytes.h"
#include "storage/check.h"

bool check_marks_begin(struct checker *k, uint64_t first)
{
    uint64_t window = k->c->blob_window ? k->c->blob_window : LIMIT_CHECK_BLOBS;
    uint64_t left = k->state.next_blob > first ? k->state.next_blob - first : 1;
    free(k->marks.bits);
    k->marks = (struct blob_marks){.first = first, .n = left < window ? left : window};
    k->marks.bits = calloc(1, k->marks.n / 8 + 1); /* pages that stay empty take none */
    return k->marks.bits != NULL;
}

static uint8_t *byte_of(const struct blob_marks *m, uint64_t blob, uint8_t *bit)
{
    uint64_t at = blob - m->first;
    *bit = (uint8_t)(1U << at % 8);
    return blob >= m->first && at < m->n ? &m->bits[at / 8] : NULL;
}

void check_mark_blob(struct checker *k, uint64_t blob, uint32_t type, struct slice id)
{
    uint8_t bit;
    uint8_t *byte = byte_of(&k->marks, blob, &bit);
    if (!byte)
        return;
    if (*byte & bit)
        store_check_fault(k->c, FAULT_BLOB, type, id,
                          "Blob %llu, a long body, is referred to a second time here.",
                          (unsigned long long)blob);
    *byte |= bit;
}

/* ---- the chunks ---- */

static bool is_marked(const struct checker *k, uint64_t blob)
{
    uint8_t bit, *byte = byte_of(&k->marks, blob, &bit);
    return byte && *byte & bit;
}

static void tell_orphan(struct checker *k, uint64_t blob, uint64_t chunks)
{
    uint8_t key[KEY_CHUNK_BYTES];
    if (!blob || is_marked(k, blob))
        return;
    key_chunk(key, blob, 0);
    if (blob >= k->marks.first)
        store_check_fault(k->c, FAULT_BLOB, 0, slice_of(key + 1, 8),
                          "Nobody refers to blob %llu, which has %llu chunks.", (unsigned long long)blob,
                          (unsigned long long)chunks);
}

/* Those of this window; *past: there are blobs beyond it. */
static enum rc walk_window(struct checker *k, bool *past)
{
    uint8_t from[KEY_CHUNK_BYTES];
    uint64_t blob = 0, chunks = 0, end = k->marks.first + k->marks.n;
    struct slice key, value;
    key_chunk(from, k->marks.first == 1 ? 0 : k->marks.first, 0);
    enum rc rc =
        k->ops->seek(k->walk, slice_of(from, k->marks.first == 1 ? 1 : sizeof from), &key, &value, k->err);
    *past = false;
    for (; rc == RC_OK; rc = k->ops->next(k->walk, &key, &value, k->err)) {
        k->c->rows++;
        if (key.len != KEY_CHUNK_BYTES - 1 || get_be64(key.ptr) == 0) {
            store_check_fault(k->c, FAULT_CHUNKS, 0, key, "It is no chunk's key.");
            continue;
        }
        if (get_be64(key.ptr) >= end && k->state.next_blob > end) {
            *past = true;
            break;
        }
        if (get_be64(key.ptr) != blob) {
            tell_orphan(k, blob, chunks);
            blob = get_be64(key.ptr);
            chunks = 0;
        }
        chunks++;
    }
    tell_orphan(k, blob, chunks);
    return rc == RC_ERR ? rc : RC_OK;
}

enum rc check_blobs(struct checker *k)
{
    bool past = true;
    while (walk_window(k, &past) == RC_OK) {
        if (!past)
            return RC_OK;
        if (!check_marks_begin(k, k->marks.first + k->marks.n))
            return err_oom(k->err);
        if (check_mark_records(k) != RC_OK || check_mark_trash(k) != RC_OK)
            return RC_ERR;
    }
    return RC_ERR;
}
