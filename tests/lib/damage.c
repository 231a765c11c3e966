/* tests/lib/damage.c - the rows of a store that no server has open, for tests that damage them: keys and values in hexadecimal.
 *
 *   damage DIR rows DB         all rows of a database, "KEY VALUE" a line
 *   damage DIR put DB KEY [VALUE]
 *   damage DIR del DB KEY
 *
 * DB is a database's number in storage/engine.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "storage/engine.h"

static void fail(const char *what)
{
    fprintf(stderr, "damage: %s\n", what);
    exit(2);
}

static void need(enum rc rc, const struct err *err)
{
    if (rc == RC_ERR)
        fail(err->message);
}

static void print_hex(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        printf("%02x", s.ptr[i]);
}

static void append_hex(struct buf *out, const char *hex)
{
    for (; *hex; hex += 2) {
        unsigned byte;
        if (sscanf(hex, "%2x", &byte) != 1 || !hex[1] || !buf_append_byte(out, (uint8_t)byte))
            fail("that is not hexadecimal");
    }
}

static void print_rows(struct engine *e, uint8_t db)
{
    struct snap *s;
    struct slice key, value;
    struct err err;
    need(engine_lmdb.snap_new(e, &s, &err), &err);
    need(engine_lmdb.snap_renew(s, &err), &err);
    enum rc rc = engine_lmdb.seek(s, slice_of(&db, 1), &key, &value, &err);
    for (; rc == RC_OK; rc = engine_lmdb.next(s, &key, &value, &err)) {
        print_hex(key);
        printf(" ");
        print_hex(value);
        printf("\n");
    }
    need(rc, &err);
    engine_lmdb.snap_free(s);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        fail("damage DIR rows|put|del DB [KEY [VALUE]]");
    const struct store_opts opts = {
        .engine = "lmdb", .dir = argv[1], .durability = DURABLE_NONE, .workers = 1};
    struct buf key = {0}, value = {0};
    struct engine *e;
    struct err err;
    uint64_t db;
    if (!num_parse_decimal(slice_str(argv[3]), UINT8_MAX, &db))
        fail("DB is a number of enum engine_db");
    need(engine_lmdb.open(&e, &opts, &err), &err);
    if (!strcmp(argv[2], "rows")) {
        print_rows(e, (uint8_t)db);
    } else {
        if (!buf_append_byte(&key, (uint8_t)db))
            fail("memory is out");
        append_hex(&key, argc > 4 ? argv[4] : "");
        append_hex(&value, argc > 5 ? argv[5] : "");
        struct mutation m = {
            .key = buf_slice(&key), .part = {buf_slice(&value)}, .del = !strcmp(argv[2], "del")};
        need(engine_lmdb.apply(e, &m, 1, &err), &err);
    }
    engine_lmdb.close(e);
    buf_release(&key);
    buf_release(&value);
    return 0;
}
