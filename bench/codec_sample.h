/* bench/codec_sample.h - one schema and one record, in every form that the candidates of the codec benchmark need. */
#ifndef BENCH_CODEC_SAMPLE_H
#define BENCH_CODEC_SAMPLE_H

#include <avro.h>

#include "bench/simdjson_walk.h"
#include "schema/edit.h"
#include "schema/schema.h"

enum { DATUM_MAX = 1 << 16 };

struct sample {
    const char *name;
    struct slice schema_text, json, avro; /* owned */
    struct schema *schema;
    avro_schema_t peer_schema;
    avro_value_iface_t *peer_class;
    avro_value_t peer_value;        /* reused, as a server would */
    struct simdjson_walker *walker; /* NULL: built without simdjson */
    struct schema *later;           /* the same, but for a field more and an int that became a double */
    struct resolver *resolver;      /* which reads the one with the other */
    struct slice later_avro;        /* what comes of it; in the arena */
    const char *field;              /* the last of its fields, which is ... */
    struct edit *edit;              /* ... put once more as it is, NULL: not made yet; in the arena */
    struct projection *projection;  /* ... shown alone; in the arena */
    struct codec *codec;
    struct buf out, resolved;
    struct arena arena, scratch;
};

/* DIR/NAME.avsc and DIR/NAME.json; `avro` is still empty. Dies on any fault. */
void sample_init(struct sample *, const char *dir, const char *name);
void sample_release(struct sample *);

/* Jansson and Avro C: out holds the datum; the text is made and thrown away; the tree is. */
void peer_check(int fault); /* dies with what Avro C says */
void peer_from_json(struct sample *);
void peer_to_json(struct sample *);
void jansson_parse(struct sample *);

#endif
