/* tests/conformance/test_compat.c - every case of compat.jsonl and compat-transitive.jsonl: each mode's
 * verdict, and reasons that lead to places in the schemas' texts. */
#include "schema/schema.h"
#include "tests/conformance/lines.h"

/* Cases whose verdict is avrod's choice (docs/policies.md) and another than the one the case shows. */
static const char *const refused_by_policy[] = {"cmp-048" /* decimal_scale */};

static unsigned faults;

static void complain(const char *id, const char *mode, const char *what)
{
    faults++;
    print_error("%s, %s: %s\n", id, mode, what);
}

static struct schema *parse(json_t *text)
{
    struct arena arena = {0};
    struct schema *s = NULL;
    struct err err;
    struct slice t = slice_of(json_string_value(text), json_string_length(text));
    if (schema_parse(&s, t, slice_of(NULL, 0), &arena, &err) != RC_OK)
        fail_msg("%.*s: %s", (int)t.len, (const char *)t.ptr, err.message);
    arena_release(&arena);
    return s;
}

/* ---- pointers ---- */

/* Names of members have no escapes here. */
static bool leads_somewhere(const struct schema *s, struct slice pointer)
{
    struct slice text = schema_text(s);
    json_t *root = json_loadb((const char *)text.ptr, text.len, JSON_DECODE_ANY, NULL), *at = root;
    const char *p = (const char *)pointer.ptr, *end = p + pointer.len;
    while (at && p < end) {
        const char *slash = memchr(p + 1, '/', (size_t)(end - p - 1));
        const char *stop = slash ? slash : end;
        char token[64];
        snprintf(token, sizeof token, "%.*s", (int)(stop - p - 1), p + 1);
        at = json_is_array(at) ? json_array_get(at, strtoul(token, NULL, 10)) : json_object_get(at, token);
        p = stop;
    }
    json_decref(root);
    return at != NULL;
}

static void check_reasons(const char *id, const char *mode, const struct compat *c, const struct schema *new,
                          const struct schema *const *versions)
{
    uint32_t n = 0;
    for (const struct compat_reason *r = c->first; r; r = r->next, n++) {
        const struct schema *old = versions[r->version];
        if (!leads_somewhere(r->is_backward ? new : old, r->reader))
            complain(id, mode, "a pointer into the reader's schema that leads nowhere");
        if (!leads_somewhere(r->is_backward ? old : new, r->writer))
            complain(id, mode, "a pointer into the writer's schema that leads nowhere");
        if (r->words.len < 10 || r->words.ptr[r->words.len - 1] != '.')
            complain(id, mode, "no sentence");
    }
    assert_int_equal(n, c->n);
}

/* ---- verdicts ---- */

/* Of one version the transitive modes say what the others say; such cases do not name them. */
static bool is_wanted(json_t *line, const char *mode)
{
    char plain[64];
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(mode, "_"), mode);
    mode = json_object_get(line, mode) ? mode : plain;
    const char *id = json_string_value(json_object_get(line, "id"));
    for (size_t i = 0; i < ARRAY_LEN(refused_by_policy); i++)
        if (strcmp(refused_by_policy[i], id) == 0)
            return false;
    return json_is_true(json_object_get(line, mode));
}

static void check_mode(json_t *line, enum compat_mode mode, const struct schema *new,
                       const struct schema *const *versions, size_t n)
{
    const char *id = json_string_value(json_object_get(line, "id")), *name = compat_mode_name(mode);
    struct arena arena = {0};
    struct compat c;
    struct err err;
    if (compat_check(mode, new, versions, n, &arena, &c, &err) != RC_OK)
        complain(id, name, err.message);
    else if ((c.n == 0) != (mode == COMPAT_NONE || is_wanted(line, name)))
        complain(id, name, c.n ? (const char *)c.first->words.ptr : "compatible");
    else
        check_reasons(id, name, &c, new, versions);
    arena_release(&arena);
}

static void run_pair(json_t *line, void *none)
{
    (void)none;
    struct schema *old = parse(json_object_get(line, "old")), *new = parse(json_object_get(line, "new"));
    const struct schema *const versions[] = {old};
    for (enum compat_mode mode = 0; mode < COMPAT_MODES; mode++)
        check_mode(line, mode, new, versions, 1);
    schema_free(old);
    schema_free(new);
}

static void run_history(json_t *line, void *none)
{
    (void)none;
    enum { VERSIONS_MAX = 16 };
    const struct schema *versions[VERSIONS_MAX];
    struct schema *owned[VERSIONS_MAX], *new = parse(json_object_get(line, "new"));
    json_t *texts = json_object_get(line, "versions");
    size_t n = json_array_size(texts);
    assert_in_range(n, 1, VERSIONS_MAX);
    for (size_t i = 0; i < n; i++)
        versions[i] = owned[i] = parse(json_array_get(texts, i));
    for (enum compat_mode mode = 0; mode < COMPAT_MODES; mode++)
        check_mode(line, mode, new, versions, n);
    for (size_t i = 0; i < n; i++)
        schema_free(owned[i]);
    schema_free(new);
}

static unsigned run_file(const char *name, void (*run)(json_t *, void *))
{
    faults = 0;
    return lines_each(name, run, NULL);
}

TEST(compat_check__gives_the_verdict_of_every_conformance_case)
{
    assert_int_equal(run_file("compat.jsonl", run_pair), 154);
    assert_int_equal(faults, 0);
}

TEST(compat_check__looks_at_the_last_version_or_at_all)
{
    assert_int_equal(run_file("compat-transitive.jsonl", run_history), 9);
    assert_int_equal(faults, 0);
}

TEST_MAIN()
