/* Schema texts to models: names and references, every rule with its pointer, warnings, normal form, one entry
 * of a top-level union, and texts that are made to cost much. */
#include <stdlib.h>

#include "base/limits.h"
#include "schema/model/model.h"
#include "tests/lib/test.h"

static struct arena arena;
static struct err err;
static struct model *model;

static enum rc parse_entry(struct slice text, const char *fullname)
{
    uint8_t *copy = malloc(text.len + 1);
    assert_non_null(copy);
    memcpy(copy, text.ptr, text.len);
    model_free(model);
    model = NULL;
    arena_release(&arena);
    err = (struct err){0};
    enum rc rc = model_parse(
        &model, &(struct model_source){.text = slice_of(copy, text.len), .fullname = slice_str(fullname)},
        &arena, &err);
    free(copy);
    return rc;
}

static void takes(const char *text)
{
    if (parse_entry(slice_str(text), ""))
        fail_msg("%s\nrefused: %s", text, err.message);
    assert_int_equal(err.code, ERR_NONE);
}

static void refuses(const char *text)
{
    if (!parse_entry(slice_str(text), ""))
        fail_msg("%s\naccepted", text);
    assert_int_equal(err.code, ERR_BAD_SCHEMA);
}

/* Exactly one fault: its pointer, code and sentence. */
static void refuses_at(const char *text, const char *pointer, enum problem_code code, const char *detail)
{
    refuses(text);
    assert_int_equal(err.problems, 1);
    assert_slice_str(err.first->pointer, pointer);
    assert_string_equal(problem_slug(err.first->code), problem_slug(code));
    assert_slice_str(err.first->detail, detail);
}

/* The same, when only the place and the kind matter. */
static void refuses_there(const char *text, const char *pointer, enum problem_code code)
{
    refuses(text);
    if (err.problems != 1)
        fail_msg("%s\n%u faults", text, err.problems);
    assert_slice_str(err.first->pointer, pointer);
    assert_string_equal(problem_slug(err.first->code), problem_slug(code));
    assert_true(err.first->detail.len > 0);
}

static void normal_is(const char *text, const char *want)
{
    takes(text);
    assert_slice_str(model->normal_form, want);
}

static void are_same(const char *a, const char *b)
{
    takes(a);
    char *normal = strndup((const char *)model->normal_form.ptr, model->normal_form.len);
    assert_non_null(normal);
    normal_is(b, normal);
    free(normal);
}

static void differ(const char *a, const char *b)
{
    takes(a);
    struct buf normal = {0};
    assert_true(buf_append(&normal, model->normal_form));
    takes(b);
    assert_false(slice_eq(model->normal_form, buf_slice(&normal)));
    buf_release(&normal);
}

static void warns(const char *text, const char *warning)
{
    takes(text);
    assert_int_equal(model->nwarnings, 1);
    assert_slice_str(model->warnings[0], warning);
}

#define FIELD(type)    "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"f\",\"type\":" type "}]}"
#define FIELDS(fields) "{\"type\":\"record\",\"name\":\"R\",\"fields\":[" fields "]}"
#define ENUM(symbols)  "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":" symbols "}"
#define FIXED(name, n) "{\"type\":\"fixed\",\"name\":\"" name "\",\"size\":" n "}"
#define RECORD(name)   "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[]}"

/* ---- the model ---- */

TEST(model_parse__gives_every_part_of_a_record)
{
    takes("{\"type\":\"record\",\"name\":\"T\",\"namespace\":\"a.b\",\"doc\":\"d\\u0000\",\"aliases\":["
          "\"Old\",\"x.Y\"],"
          "\"fields\":[{\"name\":\"f\",\"type\":\"long\",\"doc\":\"fd\",\"aliases\":[\"g\",\"any string\"],"
          "\"order\":\"ignore\",\"default\": 18446744073709551616 "
          "},{\"name\":\"n\",\"type\":[\"null\",\"T\"]}]}");
    struct type *t = model->root;
    assert_int_equal(t->kind, TYPE_RECORD);
    assert_int_equal(t->number, 0);
    assert_slice_str(t->fullname, "a.b.T");
    assert_true(slice_eq(t->doc, SLICE("d\0")));
    assert_int_equal(t->naliases, 2);
    assert_slice_str(t->aliases[0], "a.b.Old");
    assert_slice_str(t->aliases[1], "x.Y");
    assert_int_equal(t->record.nfields, 2);
    struct field *f = &t->record.fields[0];
    assert_slice_str(f->name, "f");
    assert_slice_str(f->doc, "fd");
    assert_int_equal(f->naliases, 2);
    assert_slice_str(f->aliases[1], "any string");
    assert_int_equal(f->order, ORDER_IGNORE);
    assert_true(f->has_default);
    assert_slice_str(f->default_json, "18446744073709551616");
    assert_int_equal(f->type->kind, TYPE_LONG);
    struct type *u = t->record.fields[1].type;
    assert_int_equal(u->kind, TYPE_UNION);
    assert_ptr_equal(u->branches.branches[1], t);
    assert_false(t->record.fields[1].has_default);
}

TEST(model_parse__gives_enums_fixed_arrays_and_maps)
{
    takes("{\"type\":\"map\",\"values\":{\"type\":\"array\",\"items\":[{\"type\":\"enum\",\"name\":\"E\","
          "\"symbols\":[\"A\",\"B\"],\"default\":\"B\"},{\"type\":\"fixed\",\"name\":\"F\",\"size\":"
          "2147483647}]}}");
    struct type *array = model->root->values;
    assert_int_equal(model->root->kind, TYPE_MAP);
    assert_int_equal(array->kind, TYPE_ARRAY);
    struct type *e = array->items->branches.branches[0], *f = array->items->branches.branches[1];
    assert_int_equal(e->enumeration.nsymbols, 2);
    assert_slice_str(e->enumeration.symbols[1], "B");
    assert_int_equal(e->enumeration.default_index, 1);
    assert_int_equal(f->fixed_size, 2147483647);
    takes(ENUM("[\"A\"]"));
    assert_int_equal(model->root->enumeration.default_index, -1);
}

TEST(model_parse__numbers_types_from_the_root_on_without_gaps)
{
    takes(FIELDS(
        "{\"name\":\"a\",\"type\":{\"type\":\"map\",\"values\":\"int\"}},{\"name\":\"b\",\"type\":\"int\"},"
        "{\"name\":\"c\",\"type\":[\"string\",\"R\"]}"));
    const enum type_kind want[] = {TYPE_RECORD, TYPE_MAP, TYPE_INT, TYPE_UNION, TYPE_STRING};
    assert_int_equal(model->ntypes, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_int_equal(model->types[i]->kind, want[i]);
        assert_int_equal(model->types[i]->number, i);
    }
    assert_ptr_equal(model->types[0], model->root);
}

TEST(model_parse__keeps_defaults_exactly)
{
    takes(FIELDS(
        "{\"name\":\"f\",\"type\":{\"type\":\"map\",\"values\":\"double\"},\"default\": { \"b\" : 0.1000 , "
        "\"a\\u0000\\u0001/\" : 1e400 , \"c\":[true,false,null,\"\\u00e9\\n\"] } }"));
    assert_slice_str(model->root->record.fields[0].default_json,
                     "{\"b\":0.1000,\"a\\u0000\\u0001/\":1e400,\"c\":[true,false,null,\"\xc3\xa9\\n\"]}");
}

TEST(model_parse__keeps_the_text_as_it_was_given)
{
    takes(" {\"type\" : \"int\"}\n");
    assert_slice_str(model->text, " {\"type\" : \"int\"}\n");
}

static void place_is(const struct place *place, const char *pointer)
{
    struct buf b = {0};
    assert_true(place_print(place, &b));
    assert_slice_str(buf_slice(&b), pointer);
    buf_release(&b);
}

TEST(model_parse__knows_where_types_and_fields_stand)
{
    takes(FIELDS(
        "{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"b\",\"type\":[\"null\",{\"type\":\"array\",\"items\":"
        "{\"type\":\"map\",\"values\":" RECORD("S") "}}]}"));
    place_is(model->root->place, "");
    place_is(model->root->record.fields[1].place, "/fields/1");
    struct type *array = model->root->record.fields[1].type->branches.branches[1];
    place_is(array->place, "/fields/1/type/1");
    place_is(array->items->values->place, "/fields/1/type/1/items/values");
}

/* ---- names ---- */

TEST(model_parse__refuses_bad_names)
{
    refuses_at(RECORD("a-b"), "/name", PROBLEM_NAME,
               "\"a-b\" is no valid name: a name has letters, digits and _ only and does not begin with a "
               "digit; dots "
               "stand between the parts of a full name.");
    refuses_at(RECORD(".a"), "/name", PROBLEM_NAME,
               "A name must not begin with a dot; for the null namespace write \"namespace\":\"\".");
    refuses_at(RECORD("int"), "/name", PROBLEM_NAME,
               "\"int\" is a primitive type's name and cannot be defined, in no namespace; choose another.");
    refuses_there(RECORD("n.int"), "/name", PROBLEM_NAME);
    refuses_there(RECORD("a..b"), "/name", PROBLEM_NAME);
    refuses_there(RECORD("a."), "/name", PROBLEM_NAME);
    refuses_there(RECORD("a\\u0000"), "/name", PROBLEM_NAME);
    refuses_there(RECORD(""), "/name", PROBLEM_NAME);
    refuses_there("{\"type\":\"record\",\"name\":\"R\",\"namespace\":\"x-y\",\"fields\":[]}", "/namespace",
                  PROBLEM_NAME);
    refuses_there("{\"type\":\"record\",\"name\":\"R\",\"namespace\":null,\"fields\":[]}", "/namespace",
                  PROBLEM_TYPE);
    refuses_there("{\"type\":\"record\",\"name\":null,\"fields\":[]}", "/name", PROBLEM_TYPE);
    refuses_there("{\"type\":\"record\",\"fields\":[]}", "/name", PROBLEM_MISSING);
    refuses_there(FIELDS("{\"name\":\"\",\"type\":\"int\"}"), "/fields/0/name", PROBLEM_NAME);
    refuses_there(FIELDS("{\"name\":\"a.b\",\"type\":\"int\"}"), "/fields/0/name", PROBLEM_NAME);
    refuses_there(ENUM("[\"A B\"]"), "/symbols/0", PROBLEM_NAME);
    refuses_there(ENUM("[\"A\",\"1A\"]"), "/symbols/1", PROBLEM_NAME);
    takes(ENUM("[\"null\",\"_\",\"A1\"]"));
}

TEST(model_parse__tells_a_bad_namespace_once_where_it_stands)
{
    refuses_there(
        "{\"type\":\"record\",\"name\":\"a b.R\",\"fields\":[{\"name\":\"f\",\"type\":" FIXED("F", "1") "}]}",
        "/name", PROBLEM_NAME);
    refuses_there("{\"type\":\"record\",\"name\":\"R\",\"namespace\":\"a b\",\"fields\":["
                  "{\"name\":\"f\",\"type\":" ENUM("[\"A\"]") "}]}",
                  "/namespace", PROBLEM_NAME);
}

TEST(model_parse__inherits_and_overrides_namespaces)
{
    takes("{\"type\":\"record\",\"name\":\"b.T\",\"fields\":["
          "{\"name\":\"p\",\"type\":" FIXED(
              "In", "1") "},{\"name\":\"q\",\"type\":\"In\"},"
                         "{\"name\":\"r\",\"type\":\"b.In\"},"
                         "{\"name\":\"s\",\"type\":{\"type\":\"record\",\"name\":\"S\",\"namespace\":\"\","
                         "\"fields\":["
                         "{\"name\":\"t\",\"type\":" FIXED(
                             "In", "2") "},{\"name\":\"u\",\"type\":\"In\"}]}},"
                                        "{\"name\":\"v\",\"type\":{\"type\":\"record\",\"name\":\"c.V\","
                                        "\"namespace\":\"x-y is ignored\",\"fields\":["
                                        "{\"name\":\"w\",\"type\":" FIXED(
                                            "In", "3") "}]}},{\"name\":\"x\",\"type\":\"c.In\"}]}");
    struct field *f = model->root->record.fields;
    assert_slice_str(f[0].type->fullname, "b.In");
    assert_ptr_equal(f[1].type, f[0].type);
    assert_ptr_equal(f[2].type, f[0].type);
    assert_slice_str(f[3].type->fullname, "S");
    assert_slice_str(f[3].type->record.fields[0].type->fullname, "In");
    assert_ptr_equal(f[3].type->record.fields[1].type, f[3].type->record.fields[0].type);
    assert_slice_str(f[4].type->record.fields[0].type->fullname, "c.In");
    assert_ptr_equal(f[5].type, f[4].type->record.fields[0].type);
}

TEST(model_parse__says_what_an_unknown_type_may_have_meant)
{
    refuses_at(
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"array\","
        "\"items\":"
        "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"Sub\",\"fields\":[{\"name\":\"f\","
        "\"type\":\"strnig\"}]}}}}]}",
        "/fields/0/type/items/items/fields/0/type", PROBLEM_UNKNOWN_TYPE,
        "Unknown type \"strnig\": did you mean \"string\"?");
    refuses_at("\"Int\"", "", PROBLEM_UNKNOWN_TYPE, "Unknown type \"Int\": did you mean \"int\"?");
    refuses_at("\"integer\"", "", PROBLEM_UNKNOWN_TYPE, "Unknown type \"integer\": did you mean \"int\"?");
    refuses_at("\"qqqqqq\"", "", PROBLEM_UNKNOWN_TYPE, "Unknown type \"qqqqqq\".");
    refuses_at("\"\"", "", PROBLEM_UNKNOWN_TYPE, "Unknown type \"\".");
    refuses_at("\"date\"", "", PROBLEM_UNKNOWN_TYPE,
               "Unknown type \"date\": write {\"type\":\"int\",\"logicalType\":\"date\"}.");
    refuses_at(FIELD("\"array\",\"items\":\"int\""), "/fields/0/type", PROBLEM_UNKNOWN_TYPE,
               "Unknown type \"array\": write the array out as an object of its own: "
               "{\"type\":\"array\",\"items\":...}.");
    refuses_at("{\"type\":\"strin\"}", "/type", PROBLEM_UNKNOWN_TYPE,
               "Unknown type \"strin\": did you mean \"string\"?");
    refuses_at(FIELDS("{\"name\":\"a\",\"type\":" FIXED("m.X", "1") "},{\"name\":\"b\",\"type\":\"X\"}"),
               "/fields/1/type", PROBLEM_UNKNOWN_TYPE, "Unknown type \"X\": did you mean \"m.X\"?");
}

TEST(model_parse__wants_definitions_before_uses)
{
    refuses_at(FIELDS("{\"name\":\"a\",\"type\":\"X\"},{\"name\":\"b\",\"type\":" FIXED("X", "1") "}"),
               "/fields/0/type", PROBLEM_UNKNOWN_TYPE,
               "Unknown type \"X\": it is defined only later, at \"/fields/1/type\"; a type must be defined "
               "where it is "
               "used first.");
}

TEST(model_parse__tells_the_full_name_that_it_tried)
{
    refuses_at(
        "{\"type\":\"record\",\"name\":\"b.R\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"fixed\","
        "\"name\":\"X\",\"namespace\":\"\",\"size\":1}},{\"name\":\"b\",\"type\":\"X\"}]}",
        "/fields/1/type", PROBLEM_UNKNOWN_TYPE,
        "Unknown type \"X\" (looked up as \"b.X\"): a type of the null namespace cannot be named from inside "
        "another namespace; give it a namespace.");
}

TEST(model_parse__refuses_a_type_defined_twice)
{
    refuses_at(
        FIELDS("{\"name\":\"a\",\"type\":" FIXED("F", "1") "},{\"name\":\"b\",\"type\":" FIXED("F", "2") "}"),
        "/fields/1/type/name", PROBLEM_DUPLICATE,
        "\"F\" is defined already, at \"/fields/0/type\"; refer to it by its name, or choose another.");
}

TEST(model_parse__refuses_aliases_that_clash)
{
    refuses_there(
        FIELDS("{\"name\":\"a\",\"type\":\"int\",\"aliases\":[\"b\"]},{\"name\":\"b\",\"type\":\"int\"}"),
        "/fields/0/aliases/0", PROBLEM_DUPLICATE);
    refuses_there(FIELDS("{\"name\":\"a\",\"type\":\"int\",\"aliases\":[\"c\"]},"
                         "{\"name\":\"b\",\"type\":\"int\",\"aliases\":[\"x\",\"c\"]}"),
                  "/fields/1/aliases/1", PROBLEM_DUPLICATE);
    refuses_there(
        "[{\"type\":\"enum\",\"name\":\"n.A\",\"symbols\":[\"x\"],\"aliases\":[\"B\"]}," RECORD("n.B") "]",
        "/0/aliases/0", PROBLEM_DUPLICATE);
    takes(FIELDS("{\"name\":\"a\",\"type\":\"int\",\"aliases\":[\"a\",\"c\",\"c\",\"\",\"x y\"]}"));
    takes("{\"type\":\"record\",\"name\":\"foo\",\"aliases\":[\"foo\",\"bar\"],\"fields\":[]}");
}

/* ---- unions ---- */

TEST(model_parse__refuses_strange_unions)
{
    refuses_at("[\"string\",\"string\"]", "/1", PROBLEM_UNION,
               "The union has a branch string already, and only named types can be told apart (logical types "
               "are their "
               "underlying type); remove one of the two.");
    refuses_at("[\"null\",[\"int\"]]", "/1", PROBLEM_UNION,
               "A union must not stand directly in a union; put its branches into the outer one.");
    refuses_at("[]", "", PROBLEM_UNION, "A union without branches has no value; give it at least one.");
    refuses_there("[{\"type\":\"array\",\"items\":\"int\"},{\"type\":\"array\",\"items\":\"long\"}]", "/1",
                  PROBLEM_UNION);
    refuses_there(FIELD("[\"null\",\"R\",\"R\"]"), "/fields/0/type/2", PROBLEM_UNION);
    refuses_there("[\"long\",{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}]", "/1", PROBLEM_UNION);
    takes("[\"int\"]");
    takes("[" RECORD("A") "," RECORD("B") ",{\"type\":\"array\",\"items\":[\"A\",\"B\"]}]");
}

/* ---- shapes ---- */

TEST(model_parse__refuses_what_is_no_schema)
{
    refuses_at("null", "", PROBLEM_TYPE,
               "A schema must be a string, an object or an array, not null (the type is written \"null\", in "
               "quotes).");
    refuses_there("5", "", PROBLEM_TYPE);
    refuses_there("true", "", PROBLEM_TYPE);
    refuses_there("{}", "/type", PROBLEM_MISSING);
    refuses_at("{\"protocol\":\"P\",\"types\":[]}", "/type", PROBLEM_MISSING,
               "A schema needs a \"type\"; this is a protocol, register one of its types.");
    refuses_there("{\"type\":5}", "/type", PROBLEM_TYPE);
    refuses_there("{\"type\":{\"type\":\"int\"}}", "/type", PROBLEM_TYPE);
    refuses_there("{\"type\":[\"null\",\"int\"]}", "/type", PROBLEM_TYPE);
    refuses_there("{\"type\":\"error\",\"name\":\"E\",\"fields\":[]}", "/type", PROBLEM_TYPE);
    refuses_there("{\"type\":\"array\"}", "/items", PROBLEM_MISSING);
    refuses_there("{\"type\":\"array\",\"items\":5}", "/items", PROBLEM_TYPE);
    refuses_at("{\"type\":\"map\",\"items\":\"int\"}", "/values", PROBLEM_MISSING,
               "A map needs \"values\", the schema of its values (\"items\" is for arrays).");
    refuses_there("{\"type\":\"record\",\"name\":\"R\"}", "/fields", PROBLEM_MISSING);
    refuses_there("{\"type\":\"record\",\"name\":\"R\",\"fields\":{}}", "/fields", PROBLEM_TYPE);
    refuses_there(FIELDS("\"a\""), "/fields/0", PROBLEM_TYPE);
    refuses_there(FIELDS("{\"name\":\"a\"}"), "/fields/0/type", PROBLEM_MISSING);
    refuses_there(FIELDS("{\"type\":\"int\"}"), "/fields/0/name", PROBLEM_MISSING);
    refuses_there(FIELDS("{\"name\":\"a\",\"type\":\"int\",\"order\":\"up\"}"), "/fields/0/order",
                  PROBLEM_SYMBOL);
    refuses_there(FIELDS("{\"name\":\"a\",\"type\":\"int\",\"doc\":1}"), "/fields/0/doc", PROBLEM_TYPE);
    refuses_there(FIELDS("{\"name\":\"a\",\"type\":\"int\",\"aliases\":[\"b\",1]}"), "/fields/0/aliases/1",
                  PROBLEM_TYPE);
    refuses_there(FIELDS("{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"a\",\"type\":\"int\"}"),
                  "/fields/1/name", PROBLEM_DUPLICATE);
    refuses_there(ENUM("[]"), "/symbols", PROBLEM_SIZE);
    refuses_there(ENUM("[\"A\",\"B\",\"A\"]"), "/symbols/2", PROBLEM_DUPLICATE);
    refuses_there("{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"],\"default\":\"B\"}", "/default",
                  PROBLEM_DEFAULT);
    refuses_there("{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"],\"default\":null}", "/default",
                  PROBLEM_TYPE);
}

TEST(model_parse__is_strict_about_the_size_of_a_fixed)
{
    takes(FIXED("F", "0"));
    refuses_there(FIXED("F", "-1"), "/size", PROBLEM_SIZE);
    refuses_there(FIXED("F", "16.0"), "/size", PROBLEM_SIZE);
    refuses_there(FIXED("F", "1e1"), "/size", PROBLEM_SIZE);
    refuses_there(FIXED("F", "2147483648"), "/size", PROBLEM_SIZE);
    refuses_there(FIXED("F", "99999999999999999999"), "/size", PROBLEM_SIZE);
    refuses_there(FIXED("F", "\"16\""), "/size", PROBLEM_TYPE);
    refuses_there("{\"type\":\"fixed\",\"name\":\"F\"}", "/size", PROBLEM_MISSING);
}

TEST(model_parse__lists_every_fault)
{
    refuses("{\"type\":\"record\",\"name\":\"1\",\"fields\":[{\"name\":\"a\",\"type\":[\"int\",\"int\"]},5,"
            "{\"name\":\"a\",\"type\":{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"-\"]}},"
            "{\"name\":\"c\",\"type\":\"nope\",\"order\":0}]}");
    static const char *const want[] = {"/name",          "/fields/0/type/1",         "/fields/1",
                                       "/fields/2/name", "/fields/2/type/symbols/0", "/fields/3/order",
                                       "/fields/3/type"};
    assert_int_equal(err.problems, ARRAY_LEN(want));
    const struct problem *p = err.first;
    for (size_t i = 0; i < ARRAY_LEN(want); i++, p = p->next)
        assert_slice_str(p->pointer, want[i]);
    assert_non_null(strstr(err.message, "7 problems; the first: At /name: \"1\" is no valid name"));
}

static void append(struct buf *b, const char *text)
{
    assert_true(buf_append(b, slice_str(text)));
}

TEST(model_parse__lists_a_hundred_faults_at_most)
{
    struct buf text = {0};
    append(&text, "[\"int\"");
    for (int i = 0; i < 1000; i++)
        append(&text, ",\"int\"");
    append(&text, "]");
    assert_int_equal(parse_entry(buf_slice(&text), ""), RC_ERR);
    assert_int_equal(err.problems, ERR_PROBLEMS_MAX);
    assert_true(err.truncated);
    buf_release(&text);
}

TEST(model_parse__refuses_bad_json_with_its_position)
{
    assert_int_equal(parse_entry(SLICE("{\"type\":\n\"int\",\"type\":\"int\"}"), ""), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_JSON);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 7);
    assert_slice_str(err.first->pointer, "/type");
}

/* ---- logical types ---- */

TEST(model_parse__takes_valid_logical_types)
{
    takes("{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2}");
    assert_int_equal(model->root->logical, LOGICAL_DECIMAL);
    assert_int_equal(model->root->precision, 9);
    assert_int_equal(model->root->scale, 2);
    takes("{\"type\":\"fixed\",\"name\":\"D\",\"size\":2,\"logicalType\":\"decimal\",\"precision\":4}");
    assert_int_equal(model->root->logical, LOGICAL_DECIMAL);
    takes("{\"type\":\"fixed\",\"name\":\"D\",\"size\":12,\"logicalType\":\"duration\"}");
    assert_int_equal(model->root->logical, LOGICAL_DURATION);
    takes("{\"type\":\"fixed\",\"name\":\"D\",\"size\":16,\"logicalType\":\"uuid\"}");
    assert_int_equal(model->root->logical, LOGICAL_UUID);
    takes("{\"type\":\"long\",\"logicalType\":\"local-timestamp-nanos\"}");
    assert_int_equal(model->root->logical, LOGICAL_LOCAL_TIMESTAMP_NANOS);
    assert_int_equal(model->nwarnings, 0);
}

TEST(model_parse__ignores_invalid_logical_types_with_a_warning)
{
    warns("{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":2,\"scale\":5}",
          "The logicalType \"decimal\" at \"\" is ignored: its scale exceeds its precision.");
    assert_int_equal(model->root->logical, LOGICAL_NONE);
    warns(FIELD("{\"type\":\"int\",\"logicalType\":\"nope\"}"),
          "The logicalType \"nope\" at \"/fields/0/type\" is ignored: it is not known.");
    warns("{\"type\":\"int\",\"logicalType\":5}",
          "The logicalType a number at \"\" is ignored: it must be a string.");
    warns("{\"type\":\"string\",\"logicalType\":\"date\"}",
          "The logicalType \"date\" at \"\" is ignored: the type cannot bear it.");
    warns(
        "{\"type\":\"fixed\",\"name\":\"D\",\"size\":2,\"logicalType\":\"decimal\",\"precision\":5}",
        "The logicalType \"decimal\" at \"\" is ignored: its precision does not fit the size of the fixed.");
    warns("{\"type\":\"fixed\",\"name\":\"D\",\"size\":15,\"logicalType\":\"uuid\"}",
          "The logicalType \"uuid\" at \"\" is ignored: the fixed must have 16 bytes.");
    warns("{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":\"4\"}",
          "The logicalType \"decimal\" at \"\" is ignored: its precision must be a whole number above 0.");
    warns("{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":99999999999999999999}",
          "The logicalType \"decimal\" at \"\" is ignored: its precision must be a whole number above 0.");
    warns(FIELDS("{\"name\":\"f\",\"type\":\"int\",\"logicalType\":\"date\"}"),
          "The logicalType of the field at \"/fields/0\" has no effect: it belongs inside the field's type.");
}

TEST(model_parse__makes_warnings_fit_for_a_header)
{
    warns("{\"type\":\"int\",\"logicalType\":\"a\\nb\xc3\xa9\"}",
          "The logicalType \"a\\nb??\" at \"\" is ignored: it is not known.");
    struct buf text = {0};
    append(&text, "{\"type\":\"record\",\"name\":\"R\",\"fields\":[");
    for (int i = 0; i < 100; i++)
        assert_true(buf_printf(&text,
                               "%s{\"name\":\"f%d\",\"type\":{\"type\":\"int\",\"logicalType\":\"x\"}}",
                               i ? "," : "", i));
    append(&text, "]}");
    assert_int_equal(parse_entry(buf_slice(&text), ""), RC_OK);
    assert_int_equal(model->nwarnings, MODEL_WARNINGS_MAX + 1);
    assert_slice_str(model->warnings[MODEL_WARNINGS_MAX], "There are more warnings than are listed here.");
    buf_release(&text);
}

/* ---- normal form ---- */

TEST(normal_form__writes_primitives_short)
{
    normal_is(" { \"type\" : \"string\" } ", "\"string\"");
    normal_is("[\"null\",{\"type\":\"int\"}]", "[\"null\",\"int\"]");
    normal_is("{\"x\":1.50,\"type\":\"int\"}", "{\"type\":\"int\",\"x\":1.50}");
}

TEST(normal_form__has_full_names_and_sorted_members)
{
    normal_is("{\"type\":\"record\",\"namespace\":\"b\",\"name\":\"T\",\"doc\":\"d\",\"aliases\":[\"Old\"],"
              "\"x\":{\"b\":1,\"a\":[{\"d\":1,\"c\":2}]},\"fields\":["
              "{\"type\":[\"null\",\"T\"],\"name\":\"n\",\"order\":\"ignore\",\"default\":null,\"aliases\":["
              "\"k\"]},"
              "{\"name\":\"e\",\"type\":{\"symbols\":[\"B\",\"A\"],\"name\":\"E\",\"type\":\"enum\","
              "\"default\":\"A\"}},"
              "{\"name\":\"m\",\"type\":{\"values\":\"E\",\"type\":\"map\"}}]}",
              "{\"aliases\":[\"b.Old\"],\"doc\":\"d\",\"fields\":["
              "{\"aliases\":[\"k\"],\"default\":null,\"name\":\"n\",\"order\":\"ignore\",\"type\":[\"null\","
              "\"b.T\"]},"
              "{\"name\":\"e\",\"type\":{\"default\":\"A\",\"name\":\"b.E\",\"symbols\":[\"B\",\"A\"],"
              "\"type\":\"enum\"}},"
              "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"b.E\"}}],\"name\":\"b.T\",\"type\":"
              "\"record\","
              "\"x\":{\"a\":[{\"c\":2,\"d\":1}],\"b\":1}}");
}

TEST(normal_form__is_equal_for_the_same_schema)
{
    are_same(RECORD("b.T"), "{\"fields\":[],\"type\":\"record\",\"namespace\":\"b\",\"name\":\"T\"}");
    are_same(RECORD("b.T"), "{\"name\":\"b.T\",\"namespace\":\"other\",\"type\":\"record\",\"fields\":[]}");
    are_same(FIELD("\"int\""), FIELD("{\"type\":\"int\"},\"order\":\"ascending\",\"aliases\":[]"));
    are_same(FIELD("\"string\",\"doc\":\"\\u00e9\""), FIELD("\"string\",\"doc\":\"\xc3\xa9\""));
    are_same("{\"type\":\"record\",\"name\":\"b.T\",\"fields\":[{\"name\":\"n\",\"type\":[\"null\",\"T\"]}]}",
             "{\"type\":\"record\",\"name\":\"b.T\",\"fields\":[{\"name\":\"n\",\"type\":[\"null\",{\"type\":"
             "\"b.T\"}]}]}");
    are_same("{\"type\":\"fixed\",\"name\":\"b.F\",\"size\":1,\"aliases\":[\"G\"]}",
             "{\"type\":\"fixed\",\"name\":\"b.F\",\"size\":1,\"aliases\":[\"b.G\"]}");
}

TEST(normal_form__differs_for_another_schema)
{
    differ(FIELD("\"int\""), FIELD("\"int\",\"doc\":\"d\""));
    differ(FIELD("\"int\""), FIELD("\"int\",\"order\":\"descending\""));
    differ(FIELD("\"int\""), FIELD("\"int\",\"default\":1"));
    differ(FIELD("\"int\",\"default\":1"), FIELD("\"int\",\"default\":1.0"));
    differ(FIELD("\"int\""), FIELD("\"int\",\"x\":null"));
    differ("\"int\"", "{\"type\":\"int\",\"logicalType\":\"date\"}");
    differ(RECORD("a.T"), RECORD("T"));
    differ("[\"null\",\"int\"]", "[\"int\",\"null\"]");
    differ("{\"type\":\"record\",\"name\":\"b.R\",\"fields\":[{\"name\":\"f\",\"type\":" RECORD("T") "}]}",
           "{\"type\":\"record\",\"name\":\"b.R\",\"fields\":[{\"name\":\"f\",\"type\":{\"type\":\"record\","
           "\"name\":\"T\",\"namespace\":\"\",\"fields\":[]}}]}");
}

TEST(normal_form__keeps_attributes_of_a_reference)
{
    normal_is(
        "{\"type\":\"record\",\"name\":\"b.T\",\"fields\":[{\"name\":\"n\",\"type\":[\"null\",{\"type\":"
        "\"T\","
        "\"a\":1}]}]}",
        "{\"fields\":[{\"name\":\"n\",\"type\":[\"null\",{\"a\":1,\"type\":\"b.T\"}]}],\"name\":\"b.T\","
        "\"type\":\"record\"}");
}

/* ---- one entry ---- */

static void entry_is(const char *text, const char *fullname, const char *want)
{
    if (parse_entry(slice_str(text), fullname))
        fail_msg("%s of %s\nrefused: %s", fullname, text, err.message);
    assert_slice_str(model->text, want);
    assert_slice_str(model->root->fullname, fullname);
    assert_int_equal(model->root->number, 0);
    assert_ptr_equal(model->types[0], model->root);
    for (size_t i = 0; i < model->ntypes; i++)
        assert_int_equal(model->types[i]->number, i);
    /* It stands on its own, and is the same schema. */
    struct buf normal = {0}, alone = {0};
    assert_true(buf_append(&normal, model->normal_form) && buf_append(&alone, model->text));
    size_t ntypes = model->ntypes;
    assert_int_equal(parse_entry(buf_slice(&alone), ""), RC_OK);
    assert_true(slice_eq(model->normal_form, buf_slice(&normal)));
    assert_int_equal(model->ntypes, ntypes);
    buf_release(&normal);
    buf_release(&alone);
}

#define ENTRIES                                                                                              \
    "[{\"type\":\"record\",\"name\":\"b.A\",\"fields\":[{\"name\":\"x\",\"type\":\"int\"}]},\"string\",{"    \
    "\"type\":"                                                                                              \
    "\"record\",\"name\":\"C\",\"namespace\":\"\",\"doc\":\"d\",\"fields\":[{\"type\":\"b.A\",\"name\":"     \
    "\"a\",\"order\":"                                                                                       \
    "\"ascending\"},{\"name\":\"b\",\"type\":[\"null\",\"b.A\",\"C\"]}]},{\"type\":\"enum\",\"name\":\"E\"," \
    "\"symbols\":[\"x\"]}]"

TEST(model_parse__makes_an_entry_a_schema_of_its_own)
{
    entry_is(ENTRIES, "b.A",
             "{\"type\":\"record\",\"name\":\"b.A\",\"fields\":[{\"name\":\"x\",\"type\":\"int\"}]}");
    entry_is(ENTRIES, "E", "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"x\"]}");
    entry_is(ENTRIES, "C",
             "{\"type\":\"record\",\"name\":\"C\",\"doc\":\"d\",\"fields\":[{\"type\":{\"type\":\"record\","
             "\"name\":\"b.A\","
             "\"fields\":[{\"name\":\"x\",\"type\":\"int\"}]},\"name\":\"a\",\"order\":\"ascending\"},{"
             "\"name\":\"b\","
             "\"type\":[\"null\",\"b.A\",\"C\"]}]}");
    place_is(model->root->record.fields[0].type->place, "/fields/0/type");
}

TEST(model_parse__refers_to_a_type_that_an_entry_uses_before_it_is_defined)
{
    entry_is("[{\"type\":\"record\",\"name\":\"a.A\",\"fields\":[{\"name\":\"x\",\"type\":" ENUM(
                 "[\"q\"]") "}]},{\"type\":\"record\",\"name\":\"a.B\",\"fields\":["
                            "{\"name\":\"e\",\"type\":\"E\"},{\"name\":\"a\",\"type\":\"A\"}]}]",
             "a.B",
             "{\"type\":\"record\",\"name\":\"a.B\",\"fields\":[{\"name\":\"e\",\"type\":"
             "{\"type\":\"enum\",\"name\":\"a.E\",\"symbols\":[\"q\"]}},{\"name\":\"a\",\"type\":"
             "{\"type\":\"record\",\"name\":\"a.A\",\"fields\":[{\"name\":\"x\",\"type\":\"a.E\"}]}}]}");
}

TEST(model_parse__keeps_the_null_namespace_inside_an_entry)
{
    entry_is(
        "[" FIXED(
            "T", "1") ",{\"type\":\"record\",\"name\":\"b.R\",\"fields\":[{\"name\":\"u\",\"type\":{\"type\":"
                      "\"record\",\"namespace\":\"\",\"name\":\"U\",\"fields\":[{\"name\":\"t\",\"type\":"
                      "\"T\"}]}}]}]",
        "b.R",
        "{\"type\":\"record\",\"name\":\"b.R\",\"fields\":[{\"name\":\"u\",\"type\":{\"namespace\":\"\","
        "\"type\":"
        "\"record\",\"name\":\"U\",\"fields\":[{\"name\":\"t\",\"type\":{\"type\":\"fixed\",\"name\":\"T\","
        "\"size\":1}"
        "}]}}]}");
}

TEST(model_parse__refuses_an_entry_that_cannot_stand_alone)
{
    const char *text =
        "[{\"type\":\"record\",\"name\":\"b.R\",\"fields\":[{\"name\":\"f\",\"type\":{\"type\":\"fixed\","
        "\"name\":\"T\",\"namespace\":\"\",\"size\":1}}]},{\"type\":\"record\",\"name\":\"C\",\"fields\":["
        "{\"name\":\"x\",\"type\":\"T\"},{\"name\":\"y\",\"type\":\"b.R\"}]}]";
    assert_int_equal(parse_entry(slice_str(text), "C"), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_SCHEMA);
    assert_slice_str(err.first->pointer, "/0/fields/0/type");
    assert_int_equal(parse_entry(slice_str(text), "b.R"), RC_OK);
}

TEST(model_parse__names_a_near_entry)
{
    assert_int_equal(parse_entry(SLICE(ENTRIES), "b.B"), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_SCHEMA);
    assert_slice_str(err.first->pointer, "");
    assert_slice_str(err.first->detail,
                     "The schema has no entry with the full name \"b.B\"; did you mean \"b.A\"?");
    assert_int_equal(parse_entry(SLICE("\"int\""), "int"), RC_ERR);
    assert_slice_str(err.first->detail,
                     "The schema has no entry with the full name \"int\": it must be a record, enum or fixed "
                     "that stands in the top-level union.");
    assert_int_equal(
        parse_entry(SLICE("[\"string\",{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":"
                          "\"f\",\"type\":" FIXED("In", "1") "}]}]"),
                    "In"),
        RC_ERR);
    assert_slice_str(err.first->detail,
                     "The schema has no entry with the full name \"In\": it must be a record, enum or fixed "
                     "that stands in the top-level union.");
    assert_int_equal(parse_entry(SLICE(RECORD("n.R")), "n.R"), RC_OK);
}

TEST(model_parse__keeps_pointers_into_the_text_that_was_sent)
{
    assert_int_equal(parse_entry(SLICE(ENTRIES), "C"), RC_OK);
    place_is(model->root->record.fields[1].place, "/2/fields/1");
    place_is(model->root->record.fields[0].type->place, "/0");
}

/* ---- limits ---- */

static enum rc parse_nested(unsigned depth, const char *before, const char *inner, const char *behind)
{
    struct buf text = {0};
    for (unsigned i = 0; i < depth; i++)
        append(&text, before);
    append(&text, inner);
    for (unsigned i = 0; i < depth; i++)
        append(&text, behind);
    enum rc rc = parse_entry(buf_slice(&text), "");
    buf_release(&text);
    return rc;
}

TEST(model_parse__limits_the_nesting_of_types)
{
    const char *array = "{\"type\":\"array\",\"items\":",
               *nullable = "[\"null\",{\"type\":\"map\",\"values\":";
    assert_int_equal(parse_nested(LIMIT_SCHEMA_DEPTH_MAX, array, "\"int\"", "}"), RC_OK);
    assert_int_equal(parse_nested(LIMIT_SCHEMA_DEPTH_MAX, nullable, "\"int\"", "}]"), RC_OK);
    assert_int_equal(parse_nested(LIMIT_SCHEMA_DEPTH_MAX + 1, array, "\"int\"", "}"), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    assert_int_equal(err.first->pointer.len, LIMIT_SCHEMA_DEPTH_MAX * strlen("/items"));
    assert_int_equal(parse_nested(LIMIT_SCHEMA_DEPTH_MAX + 1, nullable, "\"int\"", "}]"), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    assert_int_equal(parse_nested(50000, "[", "\"int\"", "]"), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
}

TEST(model_parse__limits_the_nesting_of_an_entry_made_whole)
{
    struct buf text = {0};
    append(&text, "[{\"type\":\"record\",\"name\":\"T0\",\"fields\":[]}");
    for (int i = 1; i < 400; i++)
        assert_true(buf_printf(
            &text, ",{\"type\":\"record\",\"name\":\"T%d\",\"fields\":[{\"name\":\"f\",\"type\":\"T%d\"}]}",
            i, i - 1));
    append(&text, "]");
    assert_int_equal(parse_entry(buf_slice(&text), ""), RC_OK);
    assert_int_equal(parse_entry(buf_slice(&text), "T127"), RC_OK);
    assert_int_equal(parse_entry(buf_slice(&text), "T128"), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    buf_release(&text);
}

TEST(model_parse__takes_attributes_as_deep_as_the_text_may_be)
{
    struct buf text = {0};
    append(&text, "{\"type\":\"int\",\"x\":");
    for (int i = 1; i < LIMIT_SCHEMA_JSON_DEPTH_MAX; i++)
        append(&text, "[");
    for (int i = 1; i < LIMIT_SCHEMA_JSON_DEPTH_MAX; i++)
        append(&text, "]");
    append(&text, "}");
    assert_int_equal(parse_entry(buf_slice(&text), ""), RC_OK);
    assert_true(slice_eq(model->normal_form, buf_slice(&text)));
    buf_release(&text);
}

TEST(model_parse__limits_texts_and_names)
{
    struct buf text = {0};
    append(&text, "\"int\"");
    while (text.len < LIMIT_SCHEMA_TEXT_MAX)
        append(&text, " ");
    assert_int_equal(parse_entry(buf_slice(&text), ""), RC_OK);
    append(&text, " ");
    assert_int_equal(parse_entry(buf_slice(&text), ""), RC_ERR);
    assert_int_equal(err.code, ERR_BODY_TOO_LARGE);
    text.len = 0;
    append(&text, "{\"type\":\"fixed\",\"size\":1,\"name\":\"n.");
    for (int i = 2; i < LIMIT_FULL_NAME_MAX; i++)
        append(&text, "n");
    size_t longest = text.len;
    append(&text, "\"}");
    assert_int_equal(parse_entry(buf_slice(&text), ""), RC_OK);
    text.len = longest;
    append(&text, "n\"}");
    assert_int_equal(parse_entry(buf_slice(&text), ""), RC_ERR);
    assert_slice_str(err.first->pointer, "/name");
    assert_int_equal(err.first->code, PROBLEM_SIZE);
    buf_release(&text);
}

/* Long namespace, short names: what would grow with the product must not. */
TEST(model_parse__bounds_what_aliases_cost)
{
    struct buf text = {0};
    append(&text, "{\"type\":\"fixed\",\"size\":1,\"name\":\"");
    for (int i = 0; i < 1000; i++)
        append(&text, "n");
    append(&text, ".F\",\"aliases\":[\"a\"");
    for (int i = 0; i < 10000; i++)
        assert_true(buf_printf(&text, ",\"a%d\"", i));
    append(&text, "]}");
    assert_int_equal(parse_entry(buf_slice(&text), ""), RC_ERR);
    assert_slice_str(err.first->pointer, "/aliases");
    buf_release(&text);
}

TEST(model_parse__takes_a_record_of_many_fields_and_types)
{
    struct buf text = {0};
    append(&text, "{\"type\":\"record\",\"name\":\"R\",\"fields\":[");
    for (int i = 0; i < 10000; i++)
        assert_true(buf_printf(
            &text, "%s{\"name\":\"f%d\",\"type\":{\"type\":\"enum\",\"name\":\"E%d\",\"symbols\":[\"A\"]}}",
            i ? "," : "", i, i));
    append(&text, "]}");
    assert_int_equal(parse_entry(buf_slice(&text), ""), RC_OK);
    assert_int_equal(model->ntypes, 10001);
    buf_release(&text);
}

/* ---- texts that know each other's types ---- */

static enum rc parse_known(const char *text, const char *first, const char *second)
{
    const struct slice known[] = {slice_str(first), slice_str(second)};
    model_free(model);
    model = NULL;
    arena_release(&arena);
    err = (struct err){0};
    return model_parse(
        &model, &(struct model_source){.text = slice_str(text), .known = known, .nknown = ARRAY_LEN(known)},
        &arena, &err);
}

TEST(model_parse__takes_types_that_other_texts_define)
{
    assert_int_equal(parse_known("{\"type\":\"record\",\"name\":\"a.R\",\"fields\":["
                                 "{\"name\":\"e\",\"type\":\"E\"},{\"name\":\"s\",\"type\":\"b.S\"}]}",
                                 "{\"type\":\"enum\",\"name\":\"a.E\",\"symbols\":[\"q\"]}",
                                 "{\"type\":\"record\",\"name\":\"b.S\",\"fields\":["
                                 "{\"name\":\"e\",\"type\":\"a.E\"}]}"),
                     RC_OK);
    assert_slice_str(
        model->text,
        "{\"type\":\"record\",\"name\":\"a.R\",\"fields\":[{\"name\":\"e\",\"type\":"
        "{\"type\":\"enum\",\"name\":\"a.E\",\"symbols\":[\"q\"]}},{\"name\":\"s\",\"type\":"
        "{\"type\":\"record\",\"name\":\"b.S\",\"fields\":[{\"name\":\"e\",\"type\":\"a.E\"}]}}]}");
    assert_int_equal(model->root->number, 0);
    assert_int_equal(model->ntypes, 3);
}

TEST(model_parse__takes_a_text_that_only_names_a_known_type)
{
    assert_int_equal(parse_known("{\"type\":\"array\",\"items\":\"F\"}", FIXED("F", "2"), "\"string\""),
                     RC_OK);
    assert_slice_str(model->text, "{\"type\":\"array\",\"items\":" FIXED("F", "2") "}");
    assert_int_equal(parse_known("\"F\"", FIXED("F", "2"), "[\"null\",\"int\"]"), RC_OK);
    assert_slice_str(model->text, FIXED("F", "2"));
}

TEST(model_parse__tells_faults_of_known_texts_apart)
{
    assert_int_equal(parse_known("\"F\"", FIXED("F", "2"), FIXED("F", "2")), RC_ERR);
    assert_int_equal(err.problems, 1);
    assert_slice_str(err.first->pointer, "/references/1/name");
    assert_int_equal(parse_known("\"G\"", FIXED("F", "2"), "\"int\""), RC_ERR);
    assert_slice_str(err.first->pointer, "");
    assert_int_equal(parse_known("\"F\"", FIXED("F", "2"), "{"), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_JSON);
}

TEST_MAIN()
