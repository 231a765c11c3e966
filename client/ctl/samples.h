/* client/ctl/samples.h - the text of /metrics, read: Prometheus's text format 0.0.4, as far as avrod prints it. */
#ifndef CLIENT_CTL_SAMPLES_H
#define CLIENT_CTL_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/slice.h"

struct sample {
    struct slice name, labels; /* what stands between the braces, or empty */
    double value;
};

/* The next sample of the text, in place: *rest goes on behind it. False: there is none. */
MUST_USE bool sample_next(struct slice *rest, struct sample *out);

/* Does a label have this value? Values are compared as they are written. */
bool sample_label_is(const struct sample *, const char *label, const char *value);
/* The value of a label as written; empty: it has none. */
struct slice sample_label(const struct sample *, const char *label);

/* The sum of all samples of a name. */
double samples_sum(struct slice text, const char *name);

/* The share (0 to 1) of a histogram, from the differences of its buckets between two texts, all series of the name together whose
 * label has the value, or all where label is NULL: the bound of the bucket in which it is reached; 0 if nothing was counted. */
double samples_quantile(struct slice before, struct slice now, const char *name, const char *label,
                        const char *value, double share);

#endif
