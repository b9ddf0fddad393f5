/* Preloaded into a process (LD_PRELOAD, glibc): one chosen allocation returns NULL.
 *
 * Allocations that count are those of cwboost's compiled code and, by a memory handler of NumPy,
 * those of the data of arrays. The others are not cwboost's to answer for: libgomp ends the process
 * if it has no memory for its threads, and NumPy reads through NULL if its iterators have none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_int armed, of_kernels;
static atomic_long left, made;

/* Let allocation number n from now on fail, from 0; -1: count only. */
void fail_allocation(long n) {
    left = n;
    made = of_kernels = 0;
    armed = 1;
}

/* Stop; the number of allocations since `fail_allocation`. */
long allocations_made(void) {
    armed = 0;
    return made;
}

/* 1 if the allocation that failed was one of the kernels. */
int failed_in_kernels(void) { return of_kernels; }

static int fails(int kernel) {
    if (made++ != left) return 0;
    of_kernels = kernel;
    errno = ENOMEM;
    return 1;
}

static int fails_for(void *caller) {
    Dl_info info;
    return armed && dladdr(caller, &info) && strstr(info.dli_fname, "/cwboost/_kernels/") &&
           fails(1);
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t n) { return fails_for(CALLER) ? NULL : __libc_malloc(n); }

void *calloc(size_t n, size_t size) { return fails_for(CALLER) ? NULL : __libc_calloc(n, size); }

void *realloc(void *p, size_t n) { return fails_for(CALLER) ? NULL : __libc_realloc(p, n); }

int posix_memalign(void **p, size_t to, size_t n) {
    if (fails_for(CALLER)) return ENOMEM;
    *p = __libc_memalign(to, n);
    return *p ? 0 : ENOMEM;
}

static void *array_malloc(void *context, size_t n) {
    (void)context;
    return armed && fails(0) ? NULL : __libc_malloc(n);
}

static void *array_calloc(void *context, size_t n, size_t size) {
    (void)context;
    return armed && fails(0) ? NULL : __libc_calloc(n, size);
}

static void *array_realloc(void *context, void *p, size_t n) {
    (void)context;
    return armed && fails(0) ? NULL : __libc_realloc(p, n);
}

static void array_free(void *context, void *p, size_t n) {
    (void)context, (void)n;
    __libc_free(p);
}

/* NumPy's PyDataMem_Handler, version 1. */
struct {
    char name[127];
    uint8_t version;
    void *context;
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void (*free)(void *, void *, size_t);
} array_memory = {"failing", 1, NULL, array_malloc, array_calloc, array_realloc, array_free};
