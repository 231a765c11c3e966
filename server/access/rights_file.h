/* server/access/rights_file.h - what the file of --access says, section by section, before anything is made of it. All in the arena
 * that it is read to. */
#ifndef SERVER_ACCESS_RIGHTS_FILE_H
#define SERVER_ACCESS_RIGHTS_FILE_H

#include <stdio.h>

#include "server/access/grants.h"
#include "server/access/rights.h"

enum section_kind { SECTION_ANONYMOUS, SECTION_AUTHENTICATED, SECTION_USER, SECTION_GROUP, SECTION_ADDRESS };

/* A user that a group has. */
struct member {
    struct member *next;
    struct slice name;
    unsigned line;
};

struct section {
    struct section *next;
    enum section_kind kind;
    struct slice name; /* of users and groups */
    unsigned line;
    uint32_t given;                     /* bits 1 << KEY_x */
    struct grant *grants, **grants_end; /* in their order; where the next is to hang */
    struct member *members;
    uint64_t health; /* 0 or 1 */
    uint64_t connections;
    struct quota_limits limits;
    /* What rights.c makes of it. */
    struct grants made;
    uint32_t quota_id;
};

/* The keys, in the order of rights_keys.def. */
enum rights_key {
#define KEY(name, kind, argument, sections) KEY_##name,
#include "server/access/rights_keys.def"
#undef KEY
    RIGHTS_KEYS
};

/* In the order of the file; no section stands twice. Texts are copied. CONFIG, with file and line; NO_MEMORY. */
MUST_USE enum rc rights_file_read(const char *path, struct arena *, struct section **out, struct err *);
/* The same of what is open already; `path` is for the words. */
MUST_USE enum rc rights_stream_read(FILE *stream, const char *path, struct arena *, struct section **out,
                                    struct err *err);

#endif
