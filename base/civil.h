/* base/civil.h - dates of the Gregorian calendar (before 1582 too: proleptic) and days since 1970-01-01. Pure.
 * Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil and civil_from_days. */
#ifndef BASE_CIVIL_H
#define BASE_CIVIL_H

#include <stdint.h>

struct civil {
    int32_t year;        /* 0 is 1 BC, as in ISO 8601 */
    unsigned month, day; /* from 1 */
};

/* Of a day that there is. Any year of 32 bits. */
int64_t civil_to_days(struct civil);
/* days: those of the years of 32 bits. */
struct civil civil_of_days(int64_t days);
/* month: 1 to 12. */
unsigned civil_month_days(int32_t year, unsigned month);

#endif
