/* server/care/compact.c - a store's file without the room that is free in it: copied beside it, checked, renamed over it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/care/care.h"

enum { STEP_BYTES = 4 << 20 };

static enum rc copy(struct store_file *file, int fd, struct err *err)
{
    struct care_progress progress = {.doing = "copying"};
    struct store_copy *copy;
    struct store_copy_state state;
    if (store_file_copy_new(&copy, file, fd, err) != RC_OK)
        return RC_ERR;
    enum rc rc;
    while ((rc = store_copy_step(copy, STEP_BYTES, err)) == RC_PENDING) {
        store_copy_state(copy, &state);
        care_progress_show(&progress, state.bytes, state.bytes_total);
    }
    care_progress_end(&progress);
    store_copy_free(copy);
    return rc;
}

/* What was written is what is there. */
static enum rc check(const struct store_place *place, const struct store_summary *before,
                     struct store_summary *after, struct err *err)
{
    struct store_file *file;
    if (care_open(&file, place->fresh, err) != RC_OK)
        return RC_ERR;
    enum rc rc = store_file_summary(file, after, err);
    store_file_close(file);
    if (rc == RC_OK && (after->revision != before->revision || after->types != before->types ||
                        after->records != before->records || after->bytes != before->bytes))
        return err_set(err, ERR_INTERNAL, "The copy is not the same; the store is left as it is.");
    return rc;
}

static enum rc compact(struct store_file *file, struct store_place *place, const struct store_summary *before,
                       struct store_summary *after, struct err *err)
{
    int fd;
    if (store_place_open(place, &fd, err) != RC_OK)
        return RC_ERR;
    if (copy(file, fd, err) != RC_OK || check(place, before, after, err) != RC_OK) {
        close(fd);
        return RC_ERR;
    }
    return store_place_commit(place, fd, err);
}

enum rc care_compact(const char *dir, bool accept_dirty, struct err *err)
{
    struct store_place *place = malloc(sizeof *place);
    struct store_file *file = NULL;
    struct store_summary before, after;
    enum rc rc = place ? care_open(&file, dir, err) : err_oom(err);
    if (rc == RC_OK)
        rc = store_file_summary(file, &before, err);
    if (rc == RC_OK)
        rc = care_check_whole(&before, accept_dirty, err);
    if (rc == RC_OK)
        rc = store_place_of(place, file, err);
    if (rc == RC_OK) {
        rc = compact(file, place, &before, &after, err);
        store_place_release(place);
    }
    if (rc == RC_OK)
        printf("compacted %s: %llu bytes, were %llu\n", dir, (unsigned long long)after.file_bytes,
               (unsigned long long)before.file_bytes);
    store_file_close(file);
    free(place);
    return rc;
}
