/* storage/txn.h - what a WRITE_CALL works with. One thread, for the length of one call. */
#ifndef STORAGE_TXN_H
#define STORAGE_TXN_H

#include "storage/decide.h"

struct store_txn {
    struct decider *decider;
    bool may_drop;     /* it has the group to itself so far */
    uint64_t revision; /* that its puts get */
    uint64_t written;
    bool failed;    /* a put has failed: the call cannot succeed, whatever it returns */
    struct err err; /* if failed */
};

#endif
