/* storage/boot.c - /proc/sys/kernel/random/boot_id: 32 hexadecimal digits and some dashes. */
#include "storage/boot.h"

#include <fcntl.h>
#include <unistd.h>

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse(const char *text, size_t len, uint8_t out[BOOT_ID_BYTES])
{
    unsigned digits = 0;
    memset(out, 0, BOOT_ID_BYTES);
    for (size_t i = 0; i < len && digits < 2 * BOOT_ID_BYTES; i++) {
        int v = digit_value(text[i]);
        if (v < 0)
            continue;
        out[digits / 2] = (uint8_t)(out[digits / 2] << 4 | v);
        digits++;
    }
    return digits == 2 * BOOT_ID_BYTES;
}

bool boot_id_read(uint8_t out[BOOT_ID_BYTES])
{
    char text[64];
    ssize_t n = -1;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof text);
        close(fd);
    }
    if (n > 0 && parse(text, (size_t)n, out))
        return true;
    memset(out, 0, BOOT_ID_BYTES);
    return false;
}
