/* storage/engines.c - the table of engines. */
#include "storage/engine.h"

static const struct engine_ops *const engines[] = {
#define ENGINE(name) &engine_##name,
#include "storage/engines.def"
#undef ENGINE
};

const char engine_names[] =
#define ENGINE(name) " " #name
#include "storage/engines.def"
#undef ENGINE
    ;

const struct engine_ops *engine_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(engines); i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}
