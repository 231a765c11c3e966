/* tests/unit/schema/test_decode_portable.c - the tests of test_decode.c on the way that needs no vectors. */
#undef __SSE2__
#include "schema/decode/json_out.c"
#include "tests/unit/schema/test_decode.c"
