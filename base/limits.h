/* base/limits.h - every fixed limit as a constant LIMIT_<name>; the table is limits.def. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum limit {
#define LIMIT(name, value, unit, what) LIMIT_##name = (value),
#include "base/limits.def"
#undef LIMIT
};

#endif
