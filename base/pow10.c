/* base/pow10.c - the table. */
#include "base/pow10.h"

const struct pow10 pow10_table[POW10_MAX - POW10_MIN + 1] = {
#include "base/pow10.inc"
};
