/* base/civil.c - see civil.h. Years are counted from March on, so that the leap day is the last of its year, and
 * in eras of 400 years, which all have as many days. */
#include "base/civil.h"

#include <stdbool.h>

enum { ERA_YEARS = 400, ERA_DAYS = 146097, EPOCH_DAY = 719468 /* 1970-01-01, from 0000-03-01 on */ };

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int64_t civil_to_days(struct civil c)
{
    int64_t year = (int64_t)c.year - (c.month <= 2);
    int64_t era = floor_div(year, ERA_YEARS);
    int64_t year_of_era = year - era * ERA_YEARS;
    int64_t month = (c.month + 9) % 12; /* March is 0 */
    int64_t day_of_year = (153 * month + 2) / 5 + c.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * ERA_DAYS + day_of_era - EPOCH_DAY;
}

struct civil civil_of_days(int64_t days)
{
    int64_t z = days + EPOCH_DAY, era = floor_div(z, ERA_DAYS);
    int64_t day_of_era = z - era * ERA_DAYS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / (ERA_DAYS - 1)) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* March is 0 */
    return (struct civil){
        .year = (int32_t)(year_of_era + era * ERA_YEARS + (month >= 10)),
        .month = (unsigned)(month < 10 ? month + 3 : month - 9),
        .day = (unsigned)(day_of_year - (153 * month + 2) / 5 + 1),
    };
}

unsigned civil_month_days(int32_t year, unsigned month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && is_leap);
}
