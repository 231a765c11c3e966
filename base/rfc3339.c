/* base/rfc3339.c - see rfc3339.h. */
#include "base/rfc3339.h"

#include "base/civil.h"

enum { DAY_SECONDS = 86400, YEAR_MAX = 9999, DIGITS_MAX = 9 };

static const int64_t units[DIGITS_MAX + 1] = {1,      10,      100,      1000,      10000,
                                              100000, 1000000, 10000000, 100000000, 1000000000};

/* ---- text to count ---- */

struct reader {
    const uint8_t *p, *end;
    enum rfc3339_fault fault; /* the first one; what is worse than it may follow */
};

static bool is_digit(uint8_t c)
{
    return (uint8_t)(c - '0') <= 9;
}

/* A wrong value is told only of a text that is spelled right. */
static void note(struct reader *r, enum rfc3339_fault fault)
{
    if (fault == RFC3339_SYNTAX || r->fault == RFC3339_FITS)
        r->fault = fault;
}

static int64_t read_number(struct reader *r, unsigned digits)
{
    int64_t v = 0;
    for (; digits && r->p < r->end && is_digit(*r->p); digits--)
        v = v * 10 + (*r->p++ - '0');
    if (digits)
        note(r, RFC3339_SYNTAX);
    return v;
}

/* The letter may be small (RFC 3339, section 5.6). */
static bool read_char(struct reader *r, uint8_t c)
{
    bool is_there = r->p < r->end && (*r->p == c || (c >= 'A' && *r->p == (c | 0x20)));
    r->p += is_there;
    return is_there;
}

static void expect(struct reader *r, uint8_t c)
{
    if (!read_char(r, c))
        note(r, RFC3339_SYNTAX);
}

static int64_t read_date(struct reader *r)
{
    struct civil c = {.year = (int32_t)read_number(r, 4)};
    expect(r, '-');
    c.month = (unsigned)read_number(r, 2);
    expect(r, '-');
    c.day = (unsigned)read_number(r, 2);
    if (r->fault)
        return 0;
    if (c.month >= 1 && c.month <= 12 && c.day >= 1 && c.day <= civil_month_days(c.year, c.month))
        return civil_to_days(c);
    note(r, RFC3339_NO_SUCH);
    return 0;
}

/* The digits behind the second, as units. */
static int64_t read_fraction(struct reader *r, unsigned digits)
{
    const uint8_t *first = r->p;
    int64_t v = 0;
    unsigned n = 0;
    for (; r->p < r->end && is_digit(*r->p); r->p++) {
        if (n < digits) {
            v = v * 10 + (*r->p - '0');
            n++;
        } else if (*r->p != '0') {
            note(r, RFC3339_DIGITS);
        }
    }
    if (r->p == first)
        note(r, RFC3339_SYNTAX);
    return v * units[digits - n];
}

/* As units since midnight. */
static int64_t read_time(struct reader *r, unsigned digits)
{
    int64_t hour = read_number(r, 2);
    expect(r, ':');
    int64_t minute = read_number(r, 2);
    expect(r, ':');
    int64_t second = read_number(r, 2), fraction = 0;
    if (read_char(r, '.'))
        fraction = read_fraction(r, digits);
    if (hour > 23 || minute > 59 || second > 60)
        note(r, RFC3339_NO_SUCH);
    else if (second == 60)
        note(r, RFC3339_LEAP);
    return ((hour * 60 + minute) * 60 + second) * units[digits] + fraction;
}

/* In seconds, east of Greenwich. */
static int64_t read_offset(struct reader *r)
{
    if (read_char(r, 'Z'))
        return 0;
    bool is_west = read_char(r, '-');
    if (!is_west)
        expect(r, '+');
    int64_t hours = read_number(r, 2);
    expect(r, ':');
    int64_t minutes = read_number(r, 2), seconds = (hours * 60 + minutes) * 60;
    if (hours > 23 || minutes > 59)
        note(r, RFC3339_NO_SUCH);
    return is_west ? -seconds : seconds;
}

static int64_t read_moment(struct reader *r, enum rfc3339_kind kind, unsigned digits)
{
    __int128 v = (__int128)read_date(r) * DAY_SECONDS * units[digits];
    expect(r, 'T');
    v += read_time(r, digits);
    if (kind == RFC3339_STAMP)
        v -= (__int128)read_offset(r) * units[digits];
    if (v != (int64_t)v)
        note(r, RFC3339_RANGE);
    return (int64_t)v;
}

enum rfc3339_fault rfc3339_parse(enum rfc3339_kind kind, unsigned digits, struct slice text, int64_t *out)
{
    struct slice s = slice_not_null(text);
    struct reader r = {.p = s.ptr, .end = s.ptr + s.len};
    switch (kind) {
    case RFC3339_DATE: *out = read_date(&r); break;
    case RFC3339_TIME: *out = read_time(&r, digits); break;
    case RFC3339_STAMP:
    case RFC3339_LOCAL: *out = read_moment(&r, kind, digits); break;
    }
    if (r.p != r.end)
        note(&r, RFC3339_SYNTAX);
    return r.fault;
}

/* ---- count to text ---- */

static uint8_t *put_number(uint8_t *w, int64_t v, unsigned digits)
{
    for (unsigned i = digits; i-- > 0; v /= 10)
        w[i] = (uint8_t)('0' + v % 10);
    return w + digits;
}

/* NULL: the year has not four digits. */
static uint8_t *put_date(uint8_t *w, int64_t days)
{
    static const struct civil first = {0, 1, 1}, last = {YEAR_MAX, 12, 31};
    if (days < civil_to_days(first) || days > civil_to_days(last))
        return NULL;
    struct civil c = civil_of_days(days);
    w = put_number(w, c.year, 4);
    *w++ = '-';
    w = put_number(w, c.month, 2);
    *w++ = '-';
    return put_number(w, c.day, 2);
}

static uint8_t *put_time(uint8_t *w, int64_t v, unsigned digits)
{
    int64_t second = v / units[digits];
    w = put_number(w, second / 3600, 2);
    *w++ = ':';
    w = put_number(w, second / 60 % 60, 2);
    *w++ = ':';
    w = put_number(w, second % 60, 2);
    if (!digits)
        return w;
    *w++ = '.';
    return put_number(w, v % units[digits], digits);
}

size_t rfc3339_print(enum rfc3339_kind kind, unsigned digits, int64_t v, uint8_t *out)
{
    int64_t day_units = DAY_SECONDS * units[digits];
    uint8_t *w = out;
    if (kind == RFC3339_DATE) {
        w = put_date(w, v);
        return w ? (size_t)(w - out) : 0;
    }
    int64_t rest = v % day_units,
            days = v / day_units - (rest < 0); /* the day's beginning may be beyond 64 bits */
    rest += rest < 0 ? day_units : 0;
    if (kind == RFC3339_TIME) {
        if (days != 0)
            return 0;
    } else {
        w = put_date(w, days);
        if (!w)
            return 0;
        *w++ = 'T';
    }
    w = put_time(w, rest, digits);
    if (kind == RFC3339_STAMP)
        *w++ = 'Z';
    return (size_t)(w - out);
}
