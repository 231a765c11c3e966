/* server/registry/page.h - the parameters offset and limit of a list. */
#ifndef SERVER_REGISTRY_PAGE_H
#define SERVER_REGISTRY_PAGE_H

#include "server/registry/registry.h"

struct page {
    uint64_t skip, left; /* of what would be listed */
    size_t printed;      /* the caller counts it */
};

/* Not given, or a limit below 0: all. BAD_PARAMETER: no number. */
MUST_USE enum rc page_read(const struct call *, struct page *, struct err *err);
/* Whether the next one is listed. */
bool page_takes(struct page *);
static inline bool page_is_over(const struct page *p)
{
    return !p->left;
}

#endif
