/* base/zstd.c - see zstd.h. */
#include "base/zstd.h"

#include <pthread.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/compiler.h"

/* The quickest that is not among the negative ones, which trade away more (docs/decisions/0024). */
enum { LEVEL = 1 };

/* Of one thread. */
struct contexts {
    ZSTD_CCtx *pack;
    ZSTD_DCtx *unpack;
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void contexts_free(void *p)
{
    struct contexts *c = p;
    ZSTD_freeCCtx(c->pack);
    ZSTD_freeDCtx(c->unpack);
    free(c);
}

static void key_make(void)
{
    has_key = !pthread_key_create(&key, contexts_free);
}

/* NULL: memory is out. */
static struct contexts *contexts_here(void)
{
    pthread_once(&once, key_make);
    if (unlikely(!has_key))
        return NULL;
    struct contexts *c = pthread_getspecific(key);
    if (likely(c != NULL))
        return c;
    c = calloc(1, sizeof *c);
    if (c && pthread_setspecific(key, c) != 0) {
        free(c);
        c = NULL;
    }
    return c;
}

static ZSTD_CCtx *packer(void)
{
    struct contexts *c = contexts_here();
    if (c && !c->pack)
        c->pack = ZSTD_createCCtx();
    return c ? c->pack : NULL;
}

static ZSTD_DCtx *unpacker(void)
{
    struct contexts *c = contexts_here();
    if (c && !c->unpack)
        c->unpack = ZSTD_createDCtx();
    return c ? c->unpack : NULL;
}

static bool begin(ZSTD_CCtx *z, uint64_t bytes)
{
    return !ZSTD_isError(ZSTD_CCtx_reset(z, ZSTD_reset_session_and_parameters)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, LEVEL)) &&
           !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(z, bytes));
}

size_t zstd_pack(const struct slice *parts, unsigned n, uint8_t *out, size_t room)
{
    ZSTD_CCtx *z = packer();
    ZSTD_outBuffer to = {.dst = out, .size = room};
    uint64_t bytes = 0;
    for (unsigned i = 0; i < n; i++)
        bytes += parts[i].len;
    if (!z || !begin(z, bytes))
        return 0;
    for (unsigned i = 0; i < n; i++) {
        ZSTD_inBuffer from = {.src = parts[i].ptr, .size = parts[i].len};
        bool is_last = i + 1 == n;
        size_t left = ZSTD_compressStream2(z, &to, &from, is_last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left) || from.pos < from.size || (is_last && left))
            return 0;
    }
    return to.pos;
}

enum rc zstd_unpack(struct slice packed, uint8_t *out, uint64_t bytes, struct err *err)
{
    ZSTD_DCtx *z = unpacker();
    if (unlikely(!z))
        return err_oom(err);
    size_t n = ZSTD_decompressDCtx(z, out, bytes, packed.ptr, packed.len);
    if (likely(!ZSTD_isError(n) && n == bytes))
        return RC_OK;
    return err_set(err, ERR_IO, "A compressed body is damaged: %s.",
                   ZSTD_isError(n) ? ZSTD_getErrorName(n) : "it has another length");
}
