/* client/lib/answer.c - what of an exchange the caller sees. */
#include "client/lib/answer.h"

#include <stdlib.h>

void avrod_answer_release(struct avrod_answer *a)
{
    free(a->body);
    free(a->head);
    *a = (struct avrod_answer){0};
}

const char *avrod_answer_header(const struct avrod_answer *a, const char *name, unsigned nth)
{
    return a->head ? head_find(a->head, a->head_bytes, name, nth) : NULL;
}

static uint32_t number_of(const struct avrod_answer *a, const char *name)
{
    const char *text = avrod_answer_header(a, name, 0);
    uint64_t number = 0;
    if (!text || !*text)
        return 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || number > UINT32_MAX / 10)
            return 0;
        number = number * 10 + (uint64_t)(*text - '0');
    }
    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

bool answer_take(struct avrod_answer *a, struct exchange *x)
{
    avrod_answer_release(a);
    if (!buf_append_byte(&x->body, 0))
        return false;
    *a = (struct avrod_answer){.status = x->status,
                               .body = (char *)x->body.ptr,
                               .body_bytes = x->body.len - 1,
                               .head = (char *)x->head.ptr,
                               .head_bytes = x->head.len};
    x->body = x->head = (struct buf){0};
    a->etag = avrod_answer_header(a, "ETag", 0);
    a->content_type = avrod_answer_header(a, "Content-Type", 0);
    a->schema_version = number_of(a, "Schema-Version");
    a->schema_id = number_of(a, "Schema-Id");
    return true;
}
