// Counts the allocations of a process. A library for LD_PRELOAD; counters.py compiles it.
//
// COST_COUNTS names a file of at least 8 bytes. Its first 8 bytes are the count, in the byte order of the machine. The
// library maps the file, so that another process can read the count at any time.
//
// The library also replaces sigsuspend: valgrind 3.19 writes to the mask of its caller, and ends when libdispatch passes
// one in read-only memory.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// The functions of glibc, under the names that it exports for replacements of malloc.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_ullong unmapped;
static atomic_ullong *count = &unmapped;

__attribute__((constructor)) static void map_count(void) {
    const char *path = getenv("COST_COUNTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED) count = memory;
}

static void note(void) { atomic_fetch_add_explicit(count, 1, memory_order_relaxed); }

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    note();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    note();
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    note();
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

int sigsuspend(const sigset_t *mask) {
    // The kernel reads the first 8 bytes: one bit for each of the 64 signals.
    unsigned long signals;
    memcpy(&signals, mask, sizeof signals);
    return (int)syscall(SYS_rt_sigsuspend, &signals, sizeof signals);
}
