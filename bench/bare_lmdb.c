/* bench/bare_lmdb.c - what LMDB alone takes on a store of avrod's: random gets, or puts of as many records a commit as
 * avrod's groups have, in the shape in which avrod stores them. No HTTP, no threads.
 *
 * The store must have been filled with the keys of ids.h, and no server may be writing to it. "put" changes it (heads
 * are written over without a thought): give it a copy. */
#include <errno.h>
#include <getopt.h>
#include <lmdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/cli.h"
#include "bench/ids.h"

enum {
    TYPE_BYTES = 4, /* before the id in a key of "records" (docs/format.md) */
    KEY_BYTES = TYPE_BYTES + ID_KEY_BYTES,
    VALUE_MAX = 4080,
    GROUP_MAX = 1024,
    DBS_MAX = 16,
    GETS_A_TURN = 64, /* between two renewals of the snapshot, as a busy worker has them */
};
static const size_t map_bytes = (size_t)1 << 40; /* as avrod's: address space */

struct key {
    uint8_t bytes[KEY_BYTES];
};

static struct {
    const char *dir;
    uint64_t records, seed;
    unsigned group;
    int64_t warm_ns, timed_ns;
    bool put;
} opts = {.seed = 1, .group = 50, .timed_ns = 2 * INT64_C(1000000000)};

static struct {
    MDB_env *env;
    MDB_dbi records;
    uint8_t type[TYPE_BYTES]; /* what all keys begin with */
    size_t value_bytes;       /* of one value; all are alike */
    uint8_t value[VALUE_MAX];
    uint64_t random, sum; /* sum: so that values are truly read */
} store;

struct clocks {
    int64_t wall_ns, cpu_ns;
};

static void check(int rc, const char *doing)
{
    if (rc)
        die("%s: %s", doing, mdb_strerror(rc));
}

static struct clocks clocks_read(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (struct clocks){now_ns(), (int64_t)t.tv_sec * 1000000000 + t.tv_nsec};
}

/* ---- the store ---- */

static void key_of(struct key *k, uint64_t number)
{
    memcpy(k->bytes, store.type, TYPE_BYTES);
    id_key(number, (char *)k->bytes + TYPE_BYTES);
}

/* Take the type from the first key, and the shape of a value from the record of number 1. */
static void store_look(MDB_txn *txn)
{
    MDB_cursor *cursor;
    MDB_val k, v;
    struct key one;
    check(mdb_cursor_open(txn, store.records, &cursor), "cursor");
    check(mdb_cursor_get(cursor, &k, &v, MDB_FIRST), "the first record");
    mdb_cursor_close(cursor);
    if (k.mv_size < TYPE_BYTES)
        die("%s: the first key has %zu bytes", opts.dir, k.mv_size);
    memcpy(store.type, k.mv_data, TYPE_BYTES);
    key_of(&one, 1);
    k = (MDB_val){KEY_BYTES, one.bytes};
    check(mdb_get(txn, store.records, &k, &v), "the record of number 1");
    if (v.mv_size < 1 || v.mv_size > VALUE_MAX)
        die("%s: a value of %zu bytes", opts.dir, v.mv_size);
    store.value_bytes = v.mv_size;
    memcpy(store.value, v.mv_data, v.mv_size);
}

static void store_open(void)
{
    MDB_txn *txn;
    check(mdb_env_create(&store.env), "environment");
    check(mdb_env_set_mapsize(store.env, map_bytes), "map");
    check(mdb_env_set_maxdbs(store.env, DBS_MAX), "databases");
    check(mdb_env_open(store.env, opts.dir, MDB_NOTLS | (opts.put ? 0 : MDB_RDONLY), 0600), opts.dir);
    check(mdb_txn_begin(store.env, NULL, MDB_RDONLY, &txn), "begin to read");
    check(mdb_dbi_open(txn, "records", 0, &store.records), "the database \"records\"");
    store_look(txn);
    check(mdb_txn_commit(txn), "end"); /* keeps the handle */
    store.random = opts.seed;
}

/* ---- gets ---- */

static uint64_t gets_turn(MDB_txn *txn)
{
    check(mdb_txn_renew(txn), "renew");
    for (unsigned i = 0; i < GETS_A_TURN; i++) {
        struct key key;
        key_of(&key, id_random(&store.random, opts.records));
        MDB_val k = {KEY_BYTES, key.bytes}, v;
        check(mdb_get(txn, store.records, &k, &v), "get");
        store.sum += ((const uint8_t *)v.mv_data)[v.mv_size - 1];
    }
    mdb_txn_reset(txn);
    return GETS_A_TURN;
}

static uint64_t gets_until(MDB_txn *txn, int64_t end_ns)
{
    uint64_t done = 0;
    while (now_ns() < end_ns)
        done += gets_turn(txn);
    return done;
}

static uint64_t gets_all(struct clocks *start)
{
    MDB_txn *txn;
    check(mdb_txn_begin(store.env, NULL, MDB_RDONLY, &txn), "begin to read");
    mdb_txn_reset(txn);
    gets_until(txn, now_ns() + opts.warm_ns);
    *start = clocks_read();
    uint64_t done = gets_until(txn, start->wall_ns + opts.timed_ns);
    mdb_txn_abort(txn);
    return done;
}

/* ---- puts ---- */

static int key_cmp(const void *a, const void *b)
{
    return memcmp(a, b, KEY_BYTES);
}

/* One commit, the best that LMDB can do: sorted keys, one cursor, values written in place. */
static uint64_t puts_commit(void)
{
    struct key keys[GROUP_MAX];
    MDB_txn *txn;
    MDB_cursor *cursor;
    for (unsigned i = 0; i < opts.group; i++)
        key_of(&keys[i], id_random(&store.random, opts.records));
    qsort(keys, opts.group, sizeof keys[0], key_cmp);
    check(mdb_txn_begin(store.env, NULL, 0, &txn), "begin to write");
    check(mdb_cursor_open(txn, store.records, &cursor), "cursor");
    for (unsigned i = 0; i < opts.group; i++) {
        MDB_val k = {KEY_BYTES, keys[i].bytes}, v = {store.value_bytes, NULL};
        check(mdb_cursor_put(cursor, &k, &v, MDB_RESERVE), "put");
        memcpy(v.mv_data, store.value, store.value_bytes);
    }
    mdb_cursor_close(cursor);
    check(mdb_txn_commit(txn), "commit");
    return opts.group;
}

static uint64_t puts_until(int64_t end_ns)
{
    uint64_t done = 0;
    while (now_ns() < end_ns)
        done += puts_commit();
    return done;
}

static uint64_t puts_all(struct clocks *start)
{
    puts_until(now_ns() + opts.warm_ns);
    *start = clocks_read();
    return puts_until(start->wall_ns + opts.timed_ns);
}

/* ---- the run ---- */

static void report(uint64_t done, const struct clocks *start, const struct clocks *end)
{
    double seconds = (double)(end->wall_ns - start->wall_ns) / 1e9;
    double cpu_us = (double)(end->cpu_ns - start->cpu_ns) / 1e3;
    printf("{\"operations\":%llu,\"seconds\":%.4f,\"per_second\":%.0f,\"cpu_us\":%.3f,\"busy\":%.4f,"
           "\"group\":%u,\"value_bytes\":%zu}\n",
           (unsigned long long)done, seconds, (double)done / seconds, cpu_us / (double)done,
           cpu_us / 1e6 / seconds, opts.put ? opts.group : 0, store.value_bytes);
}

static void usage(void)
{
    die("bare_lmdb get|put [options]\n"
        "  --data DIR       a store filled with the keys 1 to N; put: a copy, it is changed\n"
        "  --records N      random ones of so many\n"
        "  --group N        records a commit (50)\n"
        "  --seconds SEC    (2)    --warm SEC  before that, not counted (0)\n"
        "  --seed N         of the random numbers (1)");
}

static void parse(int argc, char **argv)
{
    static const struct option table[] = {{"data", required_argument, NULL, 'd'},
                                          {"records", required_argument, NULL, 'r'},
                                          {"group", required_argument, NULL, 'g'},
                                          {"seconds", required_argument, NULL, 't'},
                                          {"warm", required_argument, NULL, 'w'},
                                          {"seed", required_argument, NULL, 's'},
                                          {0}};
    for (int o; (o = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        switch (o) {
        case 'd': opts.dir = optarg; break;
        case 'r': opts.records = cli_number("--records", optarg, 1, UINT64_MAX); break;
        case 'g': opts.group = (unsigned)cli_number("--group", optarg, 1, GROUP_MAX); break;
        case 't': opts.timed_ns = cli_seconds_ns("--seconds", optarg); break;
        case 'w': opts.warm_ns = cli_seconds_ns("--warm", optarg); break;
        case 's': opts.seed = cli_number("--seed", optarg, 0, UINT64_MAX); break;
        default: usage();
        }
    }
    if (optind != argc - 1 || !opts.dir || !opts.records)
        usage();
    opts.put = strcmp(argv[optind], "put") == 0;
    if (!opts.put && strcmp(argv[optind], "get") != 0)
        usage();
}

int main(int argc, char **argv)
{
    struct clocks start, end;
    parse(argc, argv);
    store_open();
    uint64_t done = opts.put ? puts_all(&start) : gets_all(&start);
    end = clocks_read();
    report(done, &start, &end);
    mdb_env_close(store.env);
}
