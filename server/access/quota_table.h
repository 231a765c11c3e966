/* server/access/quota_table.h - buckets of many who are alike: addresses, or users that the file does not name. A table of a fixed size:
 * whoever's buckets are full again is forgotten when somebody else needs the room, which changes nothing for them. Where a key's few
 * places are all in use those who come share one bucket until there is room, so that the table as a whole bounds what gets in. */
#ifndef SERVER_ACCESS_QUOTA_TABLE_H
#define SERVER_ACCESS_QUOTA_TABLE_H

#include "base/compiler.h"
#include "server/access/quota.h"

struct quota_table;

/* For so many at least. One reference. NULL: memory is out. */
MUST_USE struct quota_table *quota_table_new(const struct quota_limits *, unsigned places);
struct quota_table *quota_table_ref(struct quota_table *);
void quota_table_unref(struct quota_table *); /* NULL is allowed */
const struct quota_limits *quota_table_limits(const struct quota_table *);

/* As quota_buckets_..., of whom the key stands for. Any thread; a lock is held for a moment. */
uint64_t quota_table_take(struct quota_table *, uint64_t key, uint64_t now, bool *is_for_bytes);
void quota_table_charge(struct quota_table *, uint64_t key, uint64_t bytes, uint64_t now);

#endif
