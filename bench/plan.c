/* bench/plan.c - requests for the load generator, made once and copied per batch. */
#include "bench/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli.h"
#include "bench/ids.h"

/* What stands in a template for a number. */
static const struct slot_name {
    const char *text;
    size_t len;
    bool key;
} slot_names[] = {{"{id}", 4, false}, {"{key}", 5, true}};

/* The first slot in a text, or NULL. */
static const char *slot_find(const char *text, size_t len, const struct slot_name **name)
{
    const char *first = NULL;
    for (unsigned i = 0; i < ARRAY_LEN(slot_names); i++) {
        const char *at = memmem(text, len, slot_names[i].text, slot_names[i].len);
        if (at && (!first || at < first)) {
            first = at;
            *name = &slot_names[i];
        }
    }
    return first;
}

static size_t slot_bytes(const struct slot_name *name, unsigned digits)
{
    return name->key ? ID_KEY_BYTES : digits;
}

static void bytes_append(struct plan_text *t, const char *bytes, size_t len)
{
    memcpy(t->bytes + t->len, bytes, len);
    t->len += len;
}

/* Append text with zeros for every slot. */
static void text_append(struct plan_text *t, unsigned *nslots, const char *text, size_t len, unsigned digits)
{
    const char *end = text + len, *slot;
    const struct slot_name *name;
    while ((slot = slot_find(text, (size_t)(end - text), &name)) != NULL) {
        if (*nslots == PLAN_SLOTS_MAX)
            die("more than %d times {id} or {key}", PLAN_SLOTS_MAX);
        bytes_append(t, text, (size_t)(slot - text));
        t->slots[(*nslots)++] = (struct plan_slot){t->len, name->key};
        memset(t->bytes + t->len, '0', slot_bytes(name, digits));
        t->len += slot_bytes(name, digits);
        text = slot + name->len;
    }
    bytes_append(t, text, (size_t)(end - text));
}

/* How long a text is once its slots are filled. */
static size_t text_bytes(const char *text, size_t len, unsigned digits)
{
    const char *end = text + len;
    const struct slot_name *name;
    size_t n = len;
    while ((text = slot_find(text, (size_t)(end - text), &name)) != NULL) {
        n = n - name->len + slot_bytes(name, digits);
        text += name->len;
    }
    return n;
}

static void text_append_str(struct plan_text *t, const char *text)
{
    bytes_append(t, text, strlen(text));
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
        char length[64];
        snprintf(length, sizeof length, "Content-Length: %zu\r\n",
                 text_bytes(o->body, o->body_bytes, digits));
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

static uint64_t id_next(struct plan *p)
{
    return p->sequential ? p->next++ % p->ids_max + 1 : id_random(&p->random, p->ids_max);
}

static size_t request_put(struct plan *p, char *out)
{
    uint64_t id = id_next(p);
    char key[ID_KEY_BYTES];
    id_key(id, key);
    char digits[PLAN_DIGITS_MAX];
    unsigned n = 0;
    do
        digits[sizeof digits - ++n] = (char)('0' + id % 10);
    while ((id /= 10) > 0);
    const struct plan_text *t = &p->texts[n];
    memcpy(out, t->bytes, t->len);
    for (unsigned i = 0; i < p->nslots; i++) {
        const struct plan_slot *slot = &t->slots[i];
        if (slot->key)
            memcpy(out + slot->at, key, sizeof key);
        else
            memcpy(out + slot->at, digits + sizeof digits - n, n);
    }
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
