/* bench/plan.c - requests for the load generator, made once and copied per batch. */
#include "bench/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli.h"

static const char SLOT[] = "{id}";
enum { SLOT_LEN = sizeof SLOT - 1 };

/* Append text with `digits` zeros for every slot. */
static void text_append(struct plan_text *t, unsigned *nslots, const char *text, size_t len, unsigned digits)
{
    const char *end = text + len, *slot;
    while ((slot = memmem(text, (size_t)(end - text), SLOT, SLOT_LEN)) != NULL) {
        if (*nslots == PLAN_SLOTS_MAX)
            die("more than %d times {id}", PLAN_SLOTS_MAX);
        memcpy(t->bytes + t->len, text, (size_t)(slot - text));
        t->len += (size_t)(slot - text);
        t->slots[(*nslots)++] = t->len;
        memset(t->bytes + t->len, '0', digits);
        t->len += digits;
        text = slot + SLOT_LEN;
    }
    memcpy(t->bytes + t->len, text, (size_t)(end - text));
    t->len += (size_t)(end - text);
}

static size_t slots_in(const char *text, size_t len)
{
    const char *end = text + len;
    size_t n = 0;
    for (; (text = memmem(text, (size_t)(end - text), SLOT, SLOT_LEN)) != NULL; text += SLOT_LEN)
        n++;
    return n;
}

static void text_append_str(struct plan_text *t, const char *text)
{
    t->len = (size_t)((char *)mempcpy(t->bytes + t->len, text, strlen(text)) - t->bytes);
}

static void text_build(struct plan_text *t, unsigned *nslots, const struct plan_opts *o, unsigned digits)
{
    size_t cap = strlen(o->method) + strlen(o->target) + strlen(o->host) + o->body_bytes +
                 2 * PLAN_SLOTS_MAX * PLAN_DIGITS_MAX + 256;
    for (unsigned i = 0; i < o->nheaders; i++)
        cap += strlen(o->headers[i]) + 2;
    t->bytes = malloc(cap);
    if (!t->bytes)
        die("out of memory");
    *nslots = 0;
    text_append_str(t, o->method);
    text_append_str(t, " ");
    text_append(t, nslots, o->target, strlen(o->target), digits);
    text_append_str(t, " HTTP/1.1\r\nHost: ");
    text_append_str(t, o->host);
    text_append_str(t, "\r\n");
    for (unsigned i = 0; i < o->nheaders; i++) {
        text_append_str(t, o->headers[i]);
        text_append_str(t, "\r\n");
    }
    if (o->body) {
        size_t in_body = slots_in(o->body, o->body_bytes);
        char length[64];
        snprintf(length, sizeof length, "Content-Length: %zu\r\n",
                 o->body_bytes - in_body * SLOT_LEN + in_body * digits);
        text_append_str(t, length);
    }
    text_append_str(t, "\r\n");
    if (o->body)
        text_append(t, nslots, o->body, o->body_bytes, digits);
}

static unsigned digits_of(uint64_t n)
{
    unsigned d = 1;
    for (; n >= 10; n /= 10)
        d++;
    return d;
}

/* A batch without slots is always the same bytes. */
static void batch_fill(struct plan *p)
{
    const struct plan_text *t = &p->texts[1];
    for (unsigned i = 0; i < p->depth; i++)
        memcpy(p->batch + i * t->len, t->bytes, t->len);
}

void plan_init(struct plan *p, const struct plan_opts *o)
{
    memset(p, 0, sizeof *p);
    p->depth = o->depth;
    p->ids_max = o->ids_max;
    p->sequential = o->sequential;
    p->random = o->seed;
    unsigned widest = digits_of(o->ids_max);
    for (unsigned digits = 1; digits <= widest; digits++)
        text_build(&p->texts[digits], &p->nslots, o, digits);
    p->batch = malloc(p->texts[widest].len * o->depth);
    if (!p->batch)
        die("out of memory");
    if (p->nslots == 0)
        batch_fill(p);
}

void plan_release(struct plan *p)
{
    for (unsigned digits = 0; digits <= PLAN_DIGITS_MAX; digits++)
        free(p->texts[digits].bytes);
    free(p->batch);
}

/* SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014), scaled
 * to 1..ids_max. */
static uint64_t id_next(struct plan *p)
{
    if (p->sequential)
        return p->next++ % p->ids_max + 1;
    uint64_t z = p->random += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return (uint64_t)(((unsigned __int128)z * p->ids_max) >> 64) + 1;
}

static size_t request_put(struct plan *p, char *out)
{
    uint64_t id = id_next(p);
    char digits[PLAN_DIGITS_MAX];
    unsigned n = 0;
    do
        digits[sizeof digits - ++n] = (char)('0' + id % 10);
    while ((id /= 10) > 0);
    const struct plan_text *t = &p->texts[n];
    memcpy(out, t->bytes, t->len);
    for (unsigned i = 0; i < p->nslots; i++)
        memcpy(out + t->slots[i], digits + sizeof digits - n, n);
    return t->len;
}

const char *plan_next(struct plan *p, unsigned count, size_t *bytes)
{
    if (p->nslots == 0) {
        *bytes = count * p->texts[1].len;
        return p->batch;
    }
    *bytes = 0;
    for (unsigned i = 0; i < count; i++)
        *bytes += request_put(p, p->batch + *bytes);
    return p->batch;
}
