/* tests/fuzz/schemas.c - see schemas.h. */
#include "tests/fuzz/schemas.h"

#ifdef FUZZ_AVRO_C
#include <avro.h>
#endif

/* Rows may be added at the end: what is kept under corpus/ names them by their place. */
static const struct {
    const char *text;
    bool ask_avro_c; /* not where short names clash, a fixed is empty, or items take no bytes */
} table[] = {
    /* A */ {"\"null\"", true},
    /* B */ {"\"boolean\"", true},
    /* C */ {"\"int\"", true},
    /* D */ {"\"long\"", true},
    /* E */ {"\"float\"", true},
    /* F */ {"\"double\"", true},
    /* G */ {"\"bytes\"", true},
    /* H */ {"\"string\"", true},
    /* I */ {"{'type':'fixed','name':'F0','size':0}", false},
    /* J */ {"{'type':'fixed','name':'F3','size':3}", true},
    /* K */
    {"{'type':'enum','name':'E','symbols':['A','B','Female','Male','Unknown'],'default':'Unknown'}", true},
    /* L */ {"{'type':'array','items':'int'}", true},
    /* M */ {"{'type':'map','values':'string'}", true},
    /* N */ {"{'type':'array','items':{'type':'array','items':['null','int']}}", true},
    /* O */ {"{'type':'map','values':{'type':'map','values':'long'}}", true},
    /* P */ {"['null','string']", true},
    /* Q */ {"['int','long','float','double']", true},
    /* R */ {"['double','float','long','int','string','null']", true},
    /* S */
    {"['null','boolean',{'type':'enum','name':'E','symbols':['A','NaN']},{'type':'fixed','name':'F2','size':"
     "2},"
     "'bytes','string','float',{'type':'array','items':'null'}]",
     false},
    /* T */
    {"{'type':'record','name':'PersonInfo','namespace':'astore','fields':[{'name':'name','type':'string'},"
     "{'name':'age','type':'int'},{'name':'gender','type':{'type':'enum','name':'GenderType',"
     "'symbols':['Female','Male','Unknown']},'default':'Unknown'},"
     "{'name':'emails','type':{'type':'array','items':'string'},'default':[]}]}",
     true},
    /* U */
    {"{'type':'record','name':'Many','fields':[{'name':'a','type':'int','default':1},"
     "{'name':'b','type':'long','default':2},{'name':'c','type':'string'},{'name':'d','type':'boolean'},"
     "{'name':'e','type':['null','double'],'default':null},{'name':'f','type':'float','default':0.5},"
     "{'name':'g','type':{'type':'map','values':'int'},'default':{'x':1}},{'name':'h','type':'bytes'},"
     "{'name':'i','type':{'type':'fixed','name':'F2','size':2},'default':'ab'},{'name':'j','type':'null'},"
     "{'name':'k','type':{'type':'array','items':['int','string']},'default':[1,'x']},"
     "{'name':'l','type':'int'},{'name':'m','type':'int','default':3},{'name':'n','type':'int'},"
     "{'name':'o','type':'string','default':'o'},{'name':'p','type':'int'},{'name':'q','type':'int'},"
     "{'name':'r','type':'int','default':-1},{'name':'s','type':'int'},{'name':'long_name','type':'int'}]}",
     true},
    /* V */
    {"{'type':'record','name':'L','fields':[{'name':'v','type':'int'},{'name':'next','type':['null','L'],"
     "'default':null}]}",
     true},
    /* W */
    {"{'type':'record','name':'T','fields':[{'name':'k','type':{'type':'array','items':'T'},'default':[]},"
     "{'name':'m','type':{'type':'map','values':['null','T','string']},'default':{}}]}",
     true},
    /* X */
    {"[{'type':'record','name':'A','fields':[{'name':'a','type':'int'},{'name':'b','type':'int','default':1}]"
     "},"
     "{'type':'record','name':'B','fields':[{'name':'a','type':'int'}]},{'type':'map','values':'int'},"
     "{'type':'array','items':'int'},'null']",
     true},
    /* Y */
    {"['null',{'type':'record','name':'R','fields':[{'name':'R','type':['null','R'],'default':null},"
     "{'name':'x','type':'int','default':0}]}]",
     true},
    /* Z */
    {"[{'type':'record','name':'A','namespace':'n','fields':[{'name':'x','type':'int'}]},"
     "{'type':'record','name':'A','namespace':'m','fields':[{'name':'x','type':'int'},{'name':'y','type':'"
     "int'}]},"
     "{'type':'record','name':'B','namespace':'n','fields':[{'name':'A','type':['n.A','m.A']}]},"
     "{'type':'enum','name':'B','namespace':'e','symbols':['x']},'int']",
     false},
    /* [ */
    {"{'type':'record','name':'A','fields':[{'name':'v','type':['null','A',{'type':'record','name':'B','"
     "fields':"
     "[{'name':'v','type':['null','A','B',{'type':'map','values':'B'}]},{'name':'w','type':'int','default':0}"
     "]}]}]}",
     true},
    /* \ */ {"{'type':'record','name':'E','fields':[]}", true},
    /* ] */ {"{'type':'array','items':['null',{'type':'array','items':'null'}]}", false},
    /* ^ */ {"['null',{'type':'map','values':['null','string',{'type':'map','values':'bytes'}]}]", true},
    /* _ */
    {"{'type':'array','items':['null','double',{'type':'bytes','logicalType':'decimal','precision':4,'scale':"
     "2},"
     "{'type':'fixed','name':'U','size':16}]}",
     true},
    /* ` */
    {"{'type':'record','name':'D','fields':[{'name':'r','type':{'type':'record','name':'I','fields':["
     "{'name':'i','type':'int'},{'name':'j','type':['null','int'],'default':null}]},'default':{'i':5}},"
     "{'name':'u','type':['null','I','string'],'default':'later'},{'name':'a','type':{'type':'array',"
     "'items':'I'},'default':[{'i':1},{'i':2,'j':3}]},{'name':'z','type':'long'}]}",
     true},
    /* a */ {"{'type':'map','values':['int','float','boolean']}", true},
    /* b */
    {"{'type':'array','items':{'type':'record','name':'P','fields':[{'name':'x','type':'double'},"
     "{'name':'y','type':'float'},{'name':'t','type':'long'}]}}",
     true},
    /* c */ {"['float','long','null']", true},
    /* d */
    {"{'type':'record','name':'All','fields':["
     "{'name':'a','type':{'type':'bytes','logicalType':'decimal','precision':8,'scale':2}},"
     "{'name':'b','type':{'type':'fixed','name':'D','size':9,'logicalType':'decimal','precision':20,'scale':"
     "20}},"
     "{'name':'c','type':{'type':'int','logicalType':'date'}},{'name':'d','type':{'type':'int','logicalType':"
     "'time-millis'}},{'name':'e','type':{'type':'long','logicalType':'time-micros'}},"
     "{'name':'f','type':{'type':'long','logicalType':'timestamp-millis'}},"
     "{'name':'g','type':{'type':'long','logicalType':'timestamp-micros'}},"
     "{'name':'h','type':{'type':'long','logicalType':'timestamp-nanos'}},"
     "{'name':'i','type':{'type':'long','logicalType':'local-timestamp-millis'}},"
     "{'name':'j','type':{'type':'long','logicalType':'local-timestamp-nanos'}},"
     "{'name':'k','type':{'type':'string','logicalType':'uuid'}},"
     "{'name':'l','type':{'type':'fixed','name':'U','size':16,'logicalType':'uuid'}},"
     "{'name':'m','type':{'type':'fixed','name':'P','size':12,'logicalType':'duration'}},"
     "{'name':'n','type':'bytes'},{'name':'o','type':'long'}]}",
     false},
    /* e */
    {"['null',{'type':'int','logicalType':'date'},{'type':'fixed','name':'D','size':4,'logicalType':'decimal'"
     ","
     "'precision':8,'scale':3},{'type':'long','logicalType':'timestamp-millis'},"
     "{'type':'fixed','name':'P','size':12,'logicalType':'duration'},{'type':'fixed','name':'U','size':16,"
     "'logicalType':'uuid'},{'type':'bytes','logicalType':'decimal','precision':40,'scale':2},'string',"
     "{'type':'record','name':'R','fields':[{'name':'months','type':'long'},{'name':'days','type':'long',"
     "'default':0}]},{'type':'map','values':['null','long']}]",
     false},
    /* f */
    {"{'type':'array','items':['null',{'type':'fixed','name':'F2','size':2},"
     "{'type':'string','logicalType':'uuid'},'bytes','long','double']}",
     false},
    /* g */
    {"{'type':'map','values':['null',{'type':'fixed','name':'P','size':12,'logicalType':'duration'}]}",
     false},
};
enum { ROWS = sizeof table / sizeof *table };

static struct schema *parsed[ROWS];

/* The table's texts have ' for ". */
static char *text_of(int row)
{
    char *text = strdup(table[row].text);
    CHECK(text, "memory is out");
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return text;
}

static const struct schema *row_schema(int row)
{
    if (!parsed[row]) {
        struct arena arena = {0};
        struct err err;
        char *text = text_of(row);
        CHECK(schema_parse(&parsed[row], slice_str(text), slice_of(NULL, 0), &arena, &err) == RC_OK, "%s: %s",
              text, err.message);
        arena_release(&arena);
        free(text);
    }
    return parsed[row];
}

void fuzz_schema_take(struct fuzz_schema *s, struct slice *in)
{
    *s = (struct fuzz_schema){.row = -1};
    uint8_t which = fuzz_byte(in);
    if (which != '$') {
        s->row = (uint8_t)(which - 'A') % ROWS;
        s->schema = row_schema(s->row);
        return;
    }
    struct err err;
    struct slice text = fuzz_copy(fuzz_text(in));
    if (schema_parse(&s->owned, text, slice_of(NULL, 0), &s->arena, &err) == RC_OK)
        s->schema = s->owned;
    fuzz_free(text);
}

void fuzz_schema_release(struct fuzz_schema *s)
{
    schema_free(s->owned);
    arena_release(&s->arena);
}

#ifdef FUZZ_AVRO_C

/* Avro C loses memory of its own, which the leak checker, if there is one, shall not count. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static avro_value_t *row_value(int row)
{
    static avro_value_t values[ROWS];
    static bool is_made[ROWS];
    if (!is_made[row]) {
        char *text = text_of(row);
        avro_schema_t schema;
        CHECK(avro_schema_from_json_length(text, strlen(text), &schema) == 0, "%s: %s", text,
              avro_strerror());
        avro_value_iface_t *class = avro_generic_class_from_schema(schema);
        CHECK(class && avro_generic_value_new(class, &values[row]) == 0, "%s: %s", text, avro_strerror());
        is_made[row] = true;
        free(text);
    }
    CHECK(avro_value_reset(&values[row]) == 0, "%s", avro_strerror());
    return &values[row];
}

static avro_value_t *read_with_avro_c(int row, struct slice avro)
{
    avro_value_t *value = row_value(row);
    avro_reader_t reader = avro_reader_memory(avro.len ? (const char *)avro.ptr : "", (int64_t)avro.len);
    CHECK(reader, "memory is out");
    CHECK(avro_value_read(reader, value) == 0, "Avro C: %s", avro_strerror());
    char rest;
    CHECK(avro_read(reader, &rest, 1) != 0, "Avro C leaves bytes over");
    avro_reader_free(reader);
    return value;
}

static bool print_with_avro_c(int row, struct slice avro, char **text)
{
    /* false: a number that is not finite */
    return avro_value_to_json(read_with_avro_c(row, avro), 1, text) == 0;
}

static void write_with_avro_c(int row, struct slice avro, struct buf *out)
{
    avro_value_t *value = read_with_avro_c(row, avro);
    size_t bytes;
    CHECK(avro_value_sizeof(value, &bytes) == 0 && buf_reserve(out, bytes + 1), "Avro C: %s",
          avro_strerror());
    avro_writer_t writer = avro_writer_memory((char *)out->ptr + out->len, (int64_t)bytes + 1);
    CHECK(writer, "memory is out");
    CHECK(avro_value_write(writer, value) == 0, "Avro C: %s", avro_strerror());
    out->len += (size_t)avro_writer_tell(writer);
    avro_writer_free(writer);
}

bool fuzz_avro_c(int row, struct slice avro, struct buf *json)
{
    if (row < 0 || !table[row].ask_avro_c)
        return false;
    char *text = NULL;
    if (__lsan_disable)
        __lsan_disable();
    bool is_printed = print_with_avro_c(row, avro, &text);
    if (__lsan_enable)
        __lsan_enable();
    if (is_printed)
        CHECK(buf_append(json, slice_str(text)), "memory is out");
    free(text);
    return is_printed;
}

bool fuzz_avro_c_binary(int row, struct slice avro, struct buf *out)
{
    if (row < 0 || !table[row].ask_avro_c)
        return false;
    if (__lsan_disable)
        __lsan_disable();
    write_with_avro_c(row, avro, out);
    if (__lsan_enable)
        __lsan_enable();
    return true;
}
#else
bool fuzz_avro_c(int row, struct slice avro, struct buf *json)
{
    (void)row, (void)avro, (void)json;
    return false;
}

bool fuzz_avro_c_binary(int row, struct slice avro, struct buf *out)
{
    (void)row, (void)avro, (void)out;
    return false;
}
#endif
