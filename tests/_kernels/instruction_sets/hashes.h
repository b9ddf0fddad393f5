/* What the programs share that print one hash per kernel and case: the bits of what a kernel leaves
 * behind. The argument of a program is the number of an instruction set. The tests compile them for
 * this machine and, under an emulator, for others; nothing here depends on the processor. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu.h"

static uint64_t state = 1;

static uint64_t next_bits(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state ^ state >> 29;
}

/* In (0, 1). */
static double next_double(void) { return (double)(next_bits() >> 12 | 1) / 4503599627370496.0; }

static void show(const char *name, const void *data, size_t n_bytes) {
    const uint8_t *p = data;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < n_bytes; i++) hash = (hash ^ p[i]) * 1099511628211u;
    printf("%s %016llx\n", name, (unsigned long long)hash);
}

/* Zeros on a cache line of their own. */
static void *room(size_t n_bytes) {
    n_bytes = (n_bytes + 127) / 64 * 64;
    void *memory = aligned_alloc(64, n_bytes);
    if (!memory) exit(2);
    return memset(memory, 0, n_bytes);
}

/* Shows the hashes of the set that is chosen; returns the exit status. */
static int run(void);

int main(int argc, char **argv) {
    const int set = argc > 1 ? atoi(argv[1]) : 0;
    if (!cwb_runs(set)) return 3;
    printf("# %s\n", cwb_set_names[set]);
    cwb_set = set;
    return run();
}
