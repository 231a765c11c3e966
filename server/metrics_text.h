/* server/metrics_text.h - Prometheus's text format, version 0.0.4. Pure. All return false when memory is out. */
#ifndef SERVER_METRICS_TEXT_H
#define SERVER_METRICS_TEXT_H

#include "base/buf.h"
#include "base/histogram.h"

/* # HELP and # TYPE; `help` is escaped. */
MUST_USE bool metrics_text_family(struct buf *, const char *name, const char *type, const char *help);
/* `name="value"`, the value escaped, behind what labels there are, with a comma. */
MUST_USE bool metrics_text_label(struct buf *labels, const char *name, struct slice value);
/* One sample; labels may be empty. The number is value / 10^decimals. */
MUST_USE bool metrics_text_sample(struct buf *, const char *name, struct slice labels, uint64_t value,
                                  unsigned decimals);
/* Buckets, sum and count. first: HISTOGRAM_x; sum and bounds in 10^-decimals. */
MUST_USE bool metrics_text_histogram(struct buf *, const char *name, struct slice labels,
                                     const struct histogram_read *, unsigned first, unsigned decimals);

#endif
