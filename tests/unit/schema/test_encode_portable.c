/* tests/unit/schema/test_encode_portable.c - the encoder's tests again, as built for a processor without
 * SSE2. */
#undef __SSE2__
#include "schema/encode/encode.c"
#include "schema/encode/scan.c"
#include "tests/unit/schema/test_encode.c"
