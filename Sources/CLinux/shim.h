// What Linux offers beyond POSIX and Swift's Glibc module does not show.
#ifndef FETCHD_CLINUX_SHIM_H
#define FETCHD_CLINUX_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Declared here because <stdio.h> and <unistd.h> show them only to those who asked for _GNU_SOURCE first.
extern int renameat2(int, const char *, int, const char *, unsigned int);
extern int syncfs(int);
extern ssize_t copy_file_range(int, off_t *, int, off_t *, size_t, unsigned int);
extern int fallocate(int, int, off_t, off_t);
extern long syscall(long, ...);

// rename(2) that fails with EEXIST instead of replacing.
static inline int linux_rename_noreplace(int from_dir, const char *from, int to_dir, const char *to) {
    return renameat2(from_dir, from, to_dir, to, 1 /* RENAME_NOREPLACE */);
}

// A file in memory that a process can read from its start. Returns -1 on failure.
static inline int linux_memory_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 1 /* MFD_CLOEXEC */);
}

// Reserves blocks without changing the file's length.
static inline int linux_preallocate(int fd, int64_t offset, int64_t length) {
    return fallocate(fd, 1 /* FALLOC_FL_KEEP_SIZE */, offset, length);
}

// Gives the blocks of these bytes back without changing the file's length. They read as zeros from then on.
static inline int linux_punch_hole(int fd, int64_t offset, int64_t length) {
    return fallocate(fd, 1 | 2 /* FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE */, offset, length);
}

// The first byte from offset on that has no block; the length of the file if all have, or if its file system cannot tell. -1 on
// failure. Moves the position of the descriptor.
static inline int64_t linux_next_hole(int fd, int64_t offset) { return lseek(fd, offset, 4 /* SEEK_HOLE */); }

// Copies bytes between two files at the same offset, without moving them through this process; shares the blocks where the
// file system can. Returns the number of copied bytes, 0 at the end of the file, or -1.
static inline ssize_t linux_copy_range(int from, int to, int64_t offset, size_t count) {
    off_t read = offset, written = offset;
    return copy_file_range(from, &read, to, &written, count, 0);
}

// For looking at a file without opening it.
static const int linux_O_PATH = 010000000;

// For writing past the page cache.
#ifdef O_DIRECT
static const int linux_O_DIRECT = O_DIRECT;
#else
static const int linux_O_DIRECT = __O_DIRECT;
#endif

// Syncs the whole file system that fd lies on.
static inline int linux_sync_file_system(int fd) { return syncfs(fd); }

// Names the calling thread for ps(1) and debuggers. The kernel keeps the first 15 bytes.
static inline void linux_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

// Whether the kernel takes the wall clock for synchronized, as an NTP client tells it: 1, 0, or -1 if that is unknown.
static inline int linux_clock_is_synchronized(void) {
    // struct timex as a kernel of 64 bits lays it out: <sys/timex.h> and Swift's Glibc module define fd_set differently.
    struct {
        uint32_t modes, padding;
        int64_t offset, frequency, errors[2];
        int32_t status, others[41];
    } clock = {0};
    long state = sizeof(long) == 8 ? syscall(SYS_adjtimex, &clock) : -1;
    return state < 0 ? -1 : !(clock.status & 0x40 /* STA_UNSYNC */);
}

// When the open file was made, in nanoseconds since 1970; 0 where the file system does not keep it.
static inline int64_t linux_birth_time(int fd) {
    // statx(2) as the kernel lays it out: which headers show it depends on who included what before.
    struct {
        uint32_t mask, others[19];
        int64_t seconds;
        uint32_t nanoseconds, reserved[41];
    } status;
    if (syscall(SYS_statx, fd, "", 0x1000 /* AT_EMPTY_PATH */, 0x800u /* STATX_BTIME */, &status) != 0) return 0;
    return status.mask & 0x800u ? status.seconds * 1000000000 + status.nanoseconds : 0;
}

#endif
