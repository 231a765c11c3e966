/* storage/boot.h - which start of the machine this is. */
#ifndef STORAGE_BOOT_H
#define STORAGE_BOOT_H

#include "storage/meta.h"

/* The kernel's boot id. False: it cannot be read, and *out is zeros. */
bool boot_id_read(uint8_t out[BOOT_ID_BYTES]);

#endif
