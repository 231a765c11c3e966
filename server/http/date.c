/* server/http/date.c - IMF-fixdate without the locale. */
#include "server/http/date.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void date_update(struct date *d, int64_t unix_seconds)
{
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (d->second == unix_seconds && d->line[0])
        return;
    time_t t = (time_t)unix_seconds;
    struct tm tm;
    char text[128];
    if (!gmtime_r(&t, &tm))
        return; /* beyond year 2^31 */
    int n = snprintf(text, sizeof text, "Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n", days[tm.tm_wday],
                     tm.tm_mday, months[tm.tm_mon], (tm.tm_year + 1900) % 10000, tm.tm_hour, tm.tm_min,
                     tm.tm_sec);
    assert(n == DATE_LINE_BYTES);
    memcpy(d->line, text, DATE_LINE_BYTES);
    d->second = unix_seconds;
}
