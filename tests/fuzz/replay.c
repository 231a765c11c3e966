/* tests/fuzz/replay.c - runs kept inputs through a fuzz target, without libFuzzer: each argument is a file,
 * or a directory of files. Ends with 1 if there was nothing to run. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

static unsigned long inputs;

static void fail(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    exit(1);
}

static void run_file(const char *path, size_t size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);
    if (!f || !data || fread(data, 1, size, f) != size)
        fail(path);
    fclose(f);
    fprintf(stderr, "%s\n", path); /* first, so that it is known which one it was */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    inputs++;
}

static void run_directory(const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0)
        fail(path);
    for (int i = 0; i < n; i++) {
        char inner[4096];
        struct stat s;
        int len = snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (len < 0 || (size_t)len >= sizeof inner || stat(inner, &s) != 0)
            fail(entries[i]->d_name);
        if (S_ISREG(s.st_mode))
            run_file(inner, (size_t)s.st_size);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat s;
        if (stat(argv[i], &s) != 0)
            fail(argv[i]);
        if (S_ISDIR(s.st_mode))
            run_directory(argv[i]);
        else
            run_file(argv[i], (size_t)s.st_size);
    }
    printf("%lu inputs\n", inputs);
    return inputs ? 0 : 1;
}
