/* schema/projection_parts.h - a projection as it is run: made by projection.c, walked by projection_print.c. */
#ifndef SCHEMA_PROJECTION_PARTS_H
#define SCHEMA_PROJECTION_PARTS_H

#include "schema/program/program.h"
#include "schema/projection.h"

enum { PROJECTION_WHOLE = UINT32_MAX };

/* A field that is shown, of a record at a node. */
struct projection_field {
    uint32_t record; /* its instruction */
    uint32_t index;  /* among the record's fields */
    uint32_t node;   /* of what is in it; PROJECTION_WHOLE: all of it is shown */
};

/* A place that some paths go on from; 0 is the root. Its fields are sorted by record, then by index. */
struct projection_node {
    uint32_t first, n; /* in projection.fields */
};

struct projection {
    const struct schema *schema;
    const struct projection_node *nodes;
    const struct projection_field *fields;
};

#endif
