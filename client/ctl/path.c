/* client/ctl/path.c - avroctl path: values inside of a record, found by a path. */
#include "client/ctl/ctl.h"

/* ---- what is printed ---- */

static int print_found(const struct ctl *ctl, const struct avrod_answer *answer)
{
    int code = print_all(ctl, slice_of(answer->body, answer->body_bytes));
    return code ? code : print_all(ctl, SLICE("\n"));
}

/* ---- the call ---- */

typedef int (*print_fn)(const struct ctl *, const struct avrod_answer *);

/* `value` is NULL where the verb takes none. */
static int send(struct ctl *ctl, const char *verb, const struct buf *value, print_fn print)
{
    const struct args *a = ctl->args;
    struct avrod_write how = {.schema_version = (uint32_t)a->schema_version,
                              .if_match = a->if_match,
                              .if_none_match = a->if_none_match,
                              .idempotency_key = a->idempotency_key,
                              .dry_run = a->dry_run};
    struct avrod_answer answer = {0};
    struct avrod_error error = {0};
    struct buf id = {0}, query = {0};
    struct slice bytes = value ? slice_not_null(buf_slice(value)) : slice_of(NULL, 0);
    int code = id_of(ctl, a->words[1], &id);
    if (code == 0)
        code = query_of(ctl, &query, &how.query);
    if (code == 0 && avrod_path(ctl->client, a->words[0], id.ptr, id.len, verb, a->words[2], bytes.ptr,
                                bytes.len, &how, &answer, &error) != AVROD_OK)
        code = fail_call(ctl, &error);
    else if (code == 0)
        code = print(ctl, &answer);
    avrod_answer_release(&answer);
    buf_release(&query);
    buf_release(&id);
    return code;
}

static int send_value(struct ctl *ctl, const char *verb)
{
    struct buf value = {0};
    int code = file_read(ctl, ctl->args->words[3], &value);
    if (code == 0)
        code = send(ctl, verb, &value, print_written);
    buf_release(&value);
    return code;
}

/* ---- the commands ---- */

int command_path_select(struct ctl *ctl)
{
    return send(ctl, "select", NULL, print_found);
}

int command_path_update(struct ctl *ctl)
{
    return send_value(ctl, "update");
}

int command_path_insert(struct ctl *ctl)
{
    return send_value(ctl, "insert");
}

int command_path_insertall(struct ctl *ctl)
{
    return send_value(ctl, "insertall");
}

int command_path_delete(struct ctl *ctl)
{
    return send(ctl, "delete", NULL, print_written);
}

int command_path_clear(struct ctl *ctl)
{
    return send(ctl, "clear", NULL, print_written);
}
