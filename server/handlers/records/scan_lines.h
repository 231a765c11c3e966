/* server/handlers/records/scan_lines.h - what a scan prints: a line for each record, of JSON objects or of one array. */
#ifndef SERVER_HANDLERS_SCAN_LINES_H
#define SERVER_HANDLERS_SCAN_LINES_H

#include "server/handler.h"

struct scan_lines {
    struct buf *out; /* borrowed while a piece is made, which is full ... */
    size_t full;     /* ... at this length */
    uint64_t left;   /* lines that may follow; UINT64_MAX: any number */
    uint32_t type;   /* its number, for the log */
    bool is_array;
    bool any; /* there has been a line */
};

/* Is it enough, for this piece or for all? */
bool scan_lines_enough(const struct scan_lines *);
/* What comes behind all lines. False: memory is out. */
MUST_USE bool scan_lines_end(const struct scan_lines *);

/* `"id":"..."`, or `"id_base64":"..."` of one that is not UTF-8. False: memory is out. */
MUST_USE bool scan_id_print(struct slice id, struct buf *out);
/* A line's begin with id and revision (0: not known), to the output or to a buffer of the caller's. False: memory
 * is out, and a part of it is there. */
MUST_USE bool scan_line_begin(const struct scan_lines *, struct slice id, uint64_t revision, struct buf *out);
/* Static. */
struct slice scan_line_end(const struct scan_lines *);

/* The functions below say whether to go on: RC_OK, or RC_PENDING: it is enough. RC_ERR: NO_MEMORY, with a part of the
 * line in the output: no more can follow. */

/* The line is there to its end. */
enum rc scan_line_shown(struct scan_lines *);
/* It is there but for its end, if `ok`; else memory was out. */
MUST_USE enum rc scan_line_finish(struct scan_lines *, bool ok, struct err *err);
/* A whole line for a record that cannot be shown, which does not end the scan; a fault of the store is logged, and
 * not told in full. */
MUST_USE enum rc scan_line_fault(struct scan_lines *, struct slice id, uint64_t revision,
                                 const struct err *why, struct err *err);
MUST_USE enum rc scan_line_damage(struct scan_lines *, struct slice id, uint64_t revision, const char *what,
                                  struct err *err);

#endif
