/* tests/fault/from_environment.h - memory that this whole program shares with another process. */
#ifndef TESTS_FAULT_FROM_ENVIRONMENT_H
#define TESTS_FAULT_FROM_ENVIRONMENT_H

#include <stddef.h>

/* The file that this variable names, mapped, for as long as the process lives. NULL: there is none. */
void *from_environment(const char *variable, size_t bytes);

#endif
