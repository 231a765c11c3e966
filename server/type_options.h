/* server/type_options.h - the options of a type as words: parameters of putschema, members of /schemas. */
#ifndef SERVER_TYPE_OPTIONS_H
#define SERVER_TYPE_OPTIONS_H

#include "server/catalog_rows.h"
#include "server/handler.h"

/* Those that say how much a record may be. */
enum type_limit { TYPE_LIMIT_BYTES, TYPE_LIMIT_ITEMS, TYPE_LIMIT_DEPTH, TYPE_LIMITS };

/* Options of a request: those not given stay as they are. */
struct type_options_given {
    bool has_missing, has_unknown, has_compatibility, has_compression, has_ttl, has_max_size;
    uint8_t form_mask;  /* json_form.h: which of value.form are given */
    uint8_t limit_mask; /* bits of enum type_limit */
    struct type_options value;
};

/* What a new type starts with. */
struct type_options type_options_initial(bool astore);
/* From the parameters. Fails with BAD_PARAMETER, naming what is offered. */
MUST_USE enum rc type_options_parse(const struct request *, struct type_options_given *, struct err *);
/* Give it a level of its own, or take that away. */
void type_options_set_level(struct type_options *, uint8_t compatibility);
void type_options_unset_level(struct type_options *);
void type_options_apply(const struct type_options_given *, struct type_options *);
bool type_options_equal(const struct type_options *, const struct type_options *);

/* The option's name, and where its value is. 0: none is set. */
const char *type_limit_name(enum type_limit);
uint32_t *type_limit_of(struct type_options *, enum type_limit);

const char *missing_name(uint8_t);
const char *unknown_name(uint8_t);
const char *compression_name(uint8_t);

#endif
