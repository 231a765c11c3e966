/* base/clock.h - the two clocks. Any thread. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_wall_ms(void); /* Unix time; may be set back by the operator */
int64_t clock_mono_ms(void); /* since some start; never goes back */

#endif
