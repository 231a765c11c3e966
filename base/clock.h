/* base/clock.h - the clocks. Any thread. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_wall_ms(void); /* Unix time; may be set back by the operator */
int64_t clock_mono_ms(void); /* since some start; never goes back */
int64_t clock_mono_ns(void);
int64_t clock_coarse_ms(void); /* clock_mono_ms as of the kernel's last tick: cheaper, some ms late */

#endif
