// A library for LD_PRELOAD that reports the inode numbers and birth times that files had on another disk.
//
//   cc -shared -fPIC -O2 -Wall -Wextra -Werror -o identities.so identities.c -ldl
//   IDENTITIES=list LD_PRELOAD=./identities.so fetchd serve ...
//
// scripts/check power-loss rebuilds files that fetchd knows by inode number and time of birth. A rebuilt file has others, as a
// disk that is switched on again does not. Each line of the list, sorted, is: the number and the time of birth of a file
// as it is, and as it was; times in nanoseconds since 1970. A file that is not listed keeps its own, moved out of the way.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct identity { uint64_t inode; int64_t born; uint64_t former_inode; int64_t former_born; };

static struct identity *identities;
static size_t identity_count;

// The first of a range of inode numbers that the test's disks do not use.
static const uint64_t elsewhere = 1ULL << 48;

__attribute__((constructor)) static void read_identities(void) {
    const char *path = getenv("IDENTITIES");
    FILE *file = path ? fopen(path, "re") : NULL;
    struct identity it;
    while (file && fscanf(file, "%lu %ld %lu %ld", &it.inode, &it.born, &it.former_inode, &it.former_born) == 4) {
        identities = realloc(identities, (identity_count + 1) * sizeof it);
        if (!identities) abort();
        identities[identity_count++] = it;
    }
    if (file) fclose(file);
}

static int by_number(const void *left, const void *right) {
    const struct identity *a = left, *b = right;
    if (a->inode != b->inode) return a->inode < b->inode ? -1 : 1;
    return a->born < b->born ? -1 : a->born > b->born;
}

static const struct identity *find(uint64_t inode, int64_t born) {
    struct identity wanted = {inode, born, 0, 0};
    return bsearch(&wanted, identities, identity_count, sizeof wanted, by_number);
}

static long call(long number, long a, long b, long c, long d, long e, long f) {
    static long (*real)(long, ...);
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a, b, c, d, e, f);
}

static void translate_statx(struct statx *status) {
    int64_t born = status->stx_btime.tv_sec * 1000000000LL + status->stx_btime.tv_nsec;
    const struct identity *it = find(status->stx_ino, born);
    status->stx_ino = it ? it->former_inode : status->stx_ino + elsewhere;
    if (!it) return;
    status->stx_btime.tv_sec = it->former_born / 1000000000LL;
    status->stx_btime.tv_nsec = (uint32_t)(it->former_born % 1000000000LL);
}

static int translated(int result, int folder, const char *name, int flags, struct stat *status) {
    struct statx full;
    int saved = errno;
    if (result == 0
        && call(SYS_statx, folder, (long)name, flags, STATX_INO | STATX_BTIME, (long)&full, 0) == 0) {
        translate_statx(&full);
        status->st_ino = full.stx_ino;
    }
    errno = saved;
    return result;
}

long syscall(long number, ...) {
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(arguments, long);
    va_end(arguments);
    long result = call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (number == SYS_statx && result == 0 && a[4]) translate_statx((struct statx *)a[4]);
    return result;
}

#define REAL(name) __typeof__(name) *real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

int fstat(int file, struct stat *status) {
    REAL(fstat);
    return translated(real(file, status), file, "", AT_EMPTY_PATH, status);
}
int stat(const char *path, struct stat *status) {
    REAL(stat);
    return translated(real(path, status), AT_FDCWD, path, 0, status);
}
int lstat(const char *path, struct stat *status) {
    REAL(lstat);
    return translated(real(path, status), AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, status);
}
int fstatat(int folder, const char *path, struct stat *status, int flags) {
    REAL(fstatat);
    return translated(real(folder, path, status, flags), folder, path, flags, status);
}

// On 64-bit machines the structure is the same.
int fstat64(int file, struct stat64 *status) { return fstat(file, (struct stat *)status); }
int stat64(const char *path, struct stat64 *status) { return stat(path, (struct stat *)status); }
int lstat64(const char *path, struct stat64 *status) { return lstat(path, (struct stat *)status); }
int fstatat64(int folder, const char *path, struct stat64 *status, int flags) {
    return fstatat(folder, path, (struct stat *)status, flags);
}
