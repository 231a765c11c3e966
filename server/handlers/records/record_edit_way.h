/* server/handlers/records/record_edit_way.h - what the files of an edit's way call of each other. */
#ifndef SERVER_HANDLERS_RECORD_EDIT_WAY_H
#define SERVER_HANDLERS_RECORD_EDIT_WAY_H

#include "server/handlers/records/record_edit.h"

/* ---- record_edit_apply.c ---- */

/* Whoever applies an edit brings these, each emptied before. */
struct edit_tools {
    struct codec *codec;
    struct buf *resolved; /* for the record as the latest version reads it */
    struct buf *out;
    struct arena *arena; /* for values and problems */
    bool brief;          /* not longer than about a millisecond */
};

/* What becomes of the record (NULL: there is none), appended to tools->out, and how much of it was changed. Sets what
 * struct record_edit keeps of a time. RC_NOTFOUND: it is absent. RC_AGAIN: of another version (other_id), or it takes more
 * than `brief` allows. Any thread. */
MUST_USE enum rc record_edit_apply(const struct request *, struct record_edit *, const struct edit_tools *,
                                   const struct record *old, struct err *);

/* ---- record_edit.c ---- */

/* The edit is made: let the writer apply it. */
void record_edit_submit(struct request *);
/* It was applied, and stored if it changed anything, by this write (NULL: none was needed); revision 0: there is no record. */
void record_edit_answer(struct request *, const struct store_write *, uint64_t revision);
/* What is remembered of it, if its write has an idempotency key. Any thread. */
void record_edit_note(const struct record_edit *, struct store_write *);
/* It was not, or is to be again: RC_ERR, RC_CONFLICT, RC_NOTFOUND (of record_edit_apply, or a dropped type), RC_AGAIN. */
void record_edit_refuse(struct request *, enum rc, const struct err *);

/* ---- record_edit_help.c ---- */

/* Read the record, have a helper apply the edit, and put what it becomes; of a dry run, only say so. */
void record_edit_read(struct request *);

#endif
