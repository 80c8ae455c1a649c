// What Linux offers beyond POSIX and Swift's Glibc module does not show.
#ifndef FETCHD_CLINUX_SHIM_H
#define FETCHD_CLINUX_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

// Declared here because <stdio.h> and <unistd.h> show them only to those who asked for _GNU_SOURCE first.
extern int renameat2(int, const char *, int, const char *, unsigned int);
extern int syncfs(int);
extern int fallocate(int, int, off_t, off_t);

// rename(2) that fails with EEXIST instead of replacing.
static inline int linux_rename_noreplace(int from_dir, const char *from, int to_dir, const char *to) {
    return renameat2(from_dir, from, to_dir, to, 1 /* RENAME_NOREPLACE */);
}

// Reserves blocks without changing the file's length.
static inline int linux_preallocate(int fd, int64_t length) {
    return fallocate(fd, 1 /* FALLOC_FL_KEEP_SIZE */, 0, length);
}

// Syncs the whole file system that fd lies on.
static inline int linux_sync_file_system(int fd) { return syncfs(fd); }

#endif
