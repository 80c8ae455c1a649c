// A library for LD_PRELOAD that counts, records, fails or interrupts the system calls of a process.
//
//   cc -shared -fPIC -O2 -Wall -Wextra -Werror -o disk_faults.so disk_faults.c -ldl -lpthread
//   DISK_FAULTS_RULES=rules DISK_FAULTS_LOG=log LD_PRELOAD=./disk_faults.so fetchd serve ...
//
// Environment, each a path and each optional:
//
//   DISK_FAULTS_RULES   Rules, one on each line; read again whenever the file changes (replace it with rename(2)):
//                         CALLS PATH FIRST LAST ACTION
//                       CALLS   names of calls separated by commas, or *
//                       PATH    part of the path that the call is about (of its descriptor or argument), or *; with $ at
//                               its end, the end of that path
//                       FIRST   the first matching call that the rule applies to; 1 is the next one
//                       LAST    the last one, or - for all that follow
//                       ACTION  an error such as EIO; ENOSPC+ writes half of the bytes first (short write);
//                               EIO! is a failed sync that loses the bytes it was to make durable, as Linux does when it
//                               drops dirty pages; KILL and KILL-AFTER end the process with SIGKILL before or after
//                               the call; HOLD makes the call wait until the rules are replaced; NOTHING lets it work
//                       The first matching rule applies. Each rule counts its own matching calls.
//   DISK_FAULTS_LOG     One line for each rule that was obeyed: CALL PATH ACTION.
//   DISK_FAULTS_COUNTS  An array of 64-bit counters in the order of `call_names`; survives SIGKILL.
//   DISK_FAULTS_TRACE   Everything that changes files below DISK_FAULTS_ROOT, in order; see `struct record`.
//   DISK_FAULTS_ROOT    The folder whose files DISK_FAULTS_TRACE records.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum call {
    CALL_WRITE, CALL_PWRITE, CALL_WRITEV, CALL_FDATASYNC, CALL_FSYNC, CALL_SYNCFS, CALL_SYNC_FILE_RANGE, CALL_RENAME,
    CALL_LINK, CALL_UNLINK, CALL_FTRUNCATE, CALL_FALLOCATE, CALL_OPEN, CALL_MKDIR, CALL_SENDTO, CALL_SENDMSG,
    CALL_COUNT
};
static const char *const call_names[CALL_COUNT] = {
    "write", "pwrite64", "writev", "fdatasync", "fsync", "syncfs", "sync_file_range", "renameat2",
    "linkat", "unlink", "ftruncate", "fallocate", "open", "mkdir", "sendto", "sendmsg"};

// ---- The calls of the C library

// The constructor of another library may make a call before ours has run. Such a call looks up its function itself.
#define REAL(type, name, ...) \
    static type (*real_##name)(__VA_ARGS__); \
    static void find_##name(void) { if (!real_##name) real_##name = dlsym(RTLD_NEXT, #name); }

REAL(ssize_t, write, int, const void *, size_t)
REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
REAL(ssize_t, writev, int, const struct iovec *, int)
REAL(int, fdatasync, int)
REAL(int, fsync, int)
REAL(int, syncfs, int)
REAL(int, sync_file_range, int, off64_t, off64_t, unsigned int)
REAL(int, rename, const char *, const char *)
REAL(int, renameat, int, const char *, int, const char *)
REAL(int, renameat2, int, const char *, int, const char *, unsigned int)
REAL(int, linkat, int, const char *, int, const char *, int)
REAL(int, unlink, const char *)
REAL(int, unlinkat, int, const char *, int)
REAL(int, ftruncate64, int, off64_t)
REAL(int, fallocate64, int, int, off64_t, off64_t)
REAL(int, fchmod, int, mode_t)
REAL(int, open64, const char *, int, ...)
REAL(int, openat64, int, const char *, int, ...)
REAL(int, mkdir, const char *, mode_t)
REAL(int, mkdirat, int, const char *, mode_t)
REAL(ssize_t, sendto, int, const void *, size_t, int, const struct sockaddr *, socklen_t)
REAL(ssize_t, sendmsg, int, const struct msghdr *, int)

static void find_all(void) {
    find_write(); find_pwrite64(); find_writev(); find_fdatasync(); find_fsync(); find_syncfs();
    find_sync_file_range(); find_rename(); find_renameat(); find_renameat2(); find_linkat(); find_unlink();
    find_unlinkat(); find_ftruncate64(); find_fallocate64(); find_fchmod(); find_open64(); find_openat64();
    find_mkdir(); find_mkdirat(); find_sendto(); find_sendmsg();
}

// ---- State, under one lock

enum action { ACT_NONE, ACT_ERROR, ACT_SHORT, ACT_LOSE, ACT_KILL, ACT_KILL_AFTER, ACT_HOLD };

struct rule {
    uint32_t calls;
    char path[256];
    long first, last, seen;
    enum action action;
    int error;
    char text[32];
};

// Written bytes that are not synced.
struct extent { dev_t device; ino_t inode; off64_t start, end; };

enum { MOST_RULES = 64, MOST_EXTENTS = 8192 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *rules_path, *root;
static struct timespec rules_time;
static ino_t rules_inode;
static struct rule rules[MOST_RULES];
static int rule_count, log_file = -1, trace_file = -1;
static long replacements;  // of the rules
static uint64_t *counts;
static struct extent extents[MOST_EXTENTS];
static int extent_count;

// Files that lost bytes in a failed syncfs. As in Linux, the next sync of each of them fails once, too.
static struct { dev_t device; ino_t inode; } losers[MOST_EXTENTS];
static int loser_count;

static const struct { const char *name; int number; } errors[] = {
    {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS}, {"EACCES", EACCES}, {"ENOENT", ENOENT},
    {"EMFILE", EMFILE}, {"EINVAL", EINVAL}, {"EOPNOTSUPP", EOPNOTSUPP}, {"EINTR", EINTR}, {"ECONNRESET", ECONNRESET},
    {"EPIPE", EPIPE}, {"EBUSY", EBUSY}, {"ESTALE", ESTALE}};

static bool parse_action(const char *text, struct rule *rule) {
    snprintf(rule->text, sizeof rule->text, "%s", text);
    if (!strcmp(text, "KILL")) return rule->action = ACT_KILL, true;
    if (!strcmp(text, "KILL-AFTER")) return rule->action = ACT_KILL_AFTER, true;
    if (!strcmp(text, "HOLD")) return rule->action = ACT_HOLD, true;
    if (!strcmp(text, "NOTHING")) return rule->action = ACT_NONE, true;
    size_t length = strlen(text);
    char mark = length ? text[length - 1] : 0;
    rule->action = mark == '+' ? ACT_SHORT : mark == '!' ? ACT_LOSE : ACT_ERROR;
    if (rule->action != ACT_ERROR) length--;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strlen(errors[i].name) == length && !strncmp(errors[i].name, text, length))
            return rule->error = errors[i].number, true;
    return false;
}

static uint32_t parse_calls(char *text) {
    if (!strcmp(text, "*")) return UINT32_MAX;
    uint32_t calls = 0;
    char *rest = NULL;
    for (char *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        for (int i = 0; i < CALL_COUNT; i++)
            if (!strcmp(name, call_names[i])) calls |= 1u << i;
    return calls;
}

static void read_rules(void) {
    struct stat status;
    if (!rules_path || stat(rules_path, &status) != 0) {
        replacements += rule_count > 0;
        rule_count = 0;
        rules_inode = 0;
        return;
    }
    if (status.st_ino == rules_inode && status.st_mtim.tv_sec == rules_time.tv_sec
        && status.st_mtim.tv_nsec == rules_time.tv_nsec) return;
    rules_inode = status.st_ino;
    rules_time = status.st_mtim;
    replacements++;
    rule_count = 0;
    FILE *file = fopen(rules_path, "re");
    if (!file) return;
    char line[512], calls[256], last[32], action[32];
    while (rule_count < MOST_RULES && fgets(line, sizeof line, file)) {
        struct rule rule = {0};
        if (line[0] == '#' || line[0] == '\n') continue;
        if (sscanf(line, "%255s %255s %ld %31s %31s", calls, rule.path, &rule.first, last, action) != 5
            || !(rule.calls = parse_calls(calls)) || !parse_action(action, &rule)) {
            dprintf(2, "disk_faults: not a rule: %s", line);
            abort();
        }
        rule.last = strcmp(last, "-") ? atol(last) : -1;
        rules[rule_count++] = rule;
    }
    fclose(file);
}

static void begin(void) {
    find_all();
    rules_path = getenv("DISK_FAULTS_RULES");
    root = getenv("DISK_FAULTS_ROOT");
    const char *path;
    if ((path = getenv("DISK_FAULTS_LOG")))
        log_file = real_open64(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (root && (path = getenv("DISK_FAULTS_TRACE")))
        trace_file = real_open64(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if ((path = getenv("DISK_FAULTS_COUNTS"))) {
        int file = real_open64(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file >= 0 && real_ftruncate64(file, CALL_COUNT * sizeof *counts) == 0) {
            counts = mmap(NULL, CALL_COUNT * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (counts == MAP_FAILED) counts = NULL;
        }
        if (file >= 0) close(file);
    }
}

__attribute__((constructor)) static void start(void) { pthread_once(&once, begin); }

static void lock_state(void) {
    pthread_once(&once, begin);
    pthread_mutex_lock(&lock);
}

// ---- Paths

static void path_of(int file, char *path, size_t size) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, size - 1);
    path[length > 0 ? length : 0] = 0;
}

static void path_at(int folder, const char *name, char *path, size_t size) {
    if (name[0] == '/' || folder == AT_FDCWD) {
        snprintf(path, size, "%s", name);
        return;
    }
    path_of(folder, path, size);
    size_t length = strlen(path);
    snprintf(path + length, size - length, "/%s", name);
}

// ---- The trace

// One record; then `length` bytes: the data of a write, otherwise `path`, and for a rename or link `path` NUL `new path`.
// Numbers are in the machine's byte order. A sync covers the writes that were recorded before its SYNC_BEGIN (same
// `number`), and it is durable only once its SYNC_END is recorded.
//
//   time      when the call was done, in nanoseconds of CLOCK_MONOTONIC
//   modified  the file's time of modification after the call, in nanoseconds since 1970
//   offset    of a write: where it begins; of a truncation: the new length; of CREATE, MKDIR and MODE: the permissions
//   number    of a sync: which one; of CREATE: when the file was born, in nanoseconds since 1970
//
// CREATE without a path is a file that has no name yet (O_TMPFILE).
struct record {
    uint32_t kind, length;
    uint64_t device, inode;
    int64_t offset, number, time, modified;
};
enum kind {
    KIND_WRITE = 1, KIND_TRUNCATE, KIND_CREATE, KIND_RENAME, KIND_LINK, KIND_UNLINK, KIND_MKDIR,
    KIND_SYNC_BEGIN, KIND_SYNC_END, KIND_SYNCFS_BEGIN, KIND_SYNCFS_END, KIND_MODE
};

static bool is_traced(const char *path) {
    size_t length = root ? strlen(root) : 0;
    return trace_file >= 0 && !strncmp(path, root, length) && (path[length] == '/' || path[length] == 0);
}

static int64_t nanoseconds(struct timespec time) { return time.tv_sec * 1000000000LL + time.tv_nsec; }

static void record(enum kind kind, const struct stat *status, int64_t offset, int64_t number, const void *bytes,
                   size_t length) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct record head = {kind, length, status->st_dev, status->st_ino, offset, number, nanoseconds(now),
                          nanoseconds(status->st_mtim)};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)bytes, length}};
    if (real_writev(trace_file, parts, 2) != (ssize_t)(sizeof head + length)) abort();
}

static void record_path(enum kind kind, const struct stat *status, int64_t number, const char *path) {
    record(kind, status, 0, number, path, strlen(path));
}

static void record_two(enum kind kind, const struct stat *status, int64_t number, const char *from, const char *to) {
    char both[8192];
    size_t first = strlen(from) + 1, second = strlen(to);
    memcpy(both, from, first);
    memcpy(both + first, to, second);
    record(kind, status, 0, number, both, first + second);
}

static void record_permissions(enum kind kind, const struct stat *status, int64_t number, const char *path) {
    record(kind, status, status->st_mode & 07777, number, path, strlen(path));
}

// In nanoseconds since 1970; 0 if the file system does not store it.
static int64_t birth_time(int file) {
    struct statx status = {0};
    if (syscall(SYS_statx, file, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) return 0;
    return status.stx_btime.tv_sec * 1000000000LL + status.stx_btime.tv_nsec;
}

// ---- Bytes that are not durable

static void note_written(const struct stat *status, off64_t start, off64_t end) {
    for (int i = 0; i < extent_count; i++) {
        struct extent *e = &extents[i];
        if (e->inode == status->st_ino && e->device == status->st_dev && start <= e->end && end >= e->start) {
            if (start < e->start) e->start = start;
            if (end > e->end) e->end = end;
            return;
        }
    }
    if (extent_count < MOST_EXTENTS)
        extents[extent_count++] = (struct extent){status->st_dev, status->st_ino, start, end};
}

static void note_loser(dev_t device, ino_t inode) {
    for (int i = 0; i < loser_count; i++)
        if (losers[i].device == device && losers[i].inode == inode) return;
    if (loser_count < MOST_EXTENTS) {
        losers[loser_count].device = device;
        losers[loser_count++].inode = inode;
    }
}

static bool take_loser(dev_t device, ino_t inode) {
    for (int i = 0; i < loser_count; i++) {
        if (losers[i].device != device || losers[i].inode != inode) continue;
        losers[i] = losers[--loser_count];
        return true;
    }
    return false;
}

// If the bytes are lost, zeroes them in the open files of this process. Forgets them in any case, because the pages are
// clean.
static void end_extents(dev_t device, ino_t inode, bool is_lost) {
    int kept = 0;
    for (int i = 0; i < extent_count; i++) {
        struct extent e = extents[i];
        if (e.device != device || (inode && e.inode != inode)) {
            extents[kept++] = e;
            continue;
        }
        if (is_lost && !inode) note_loser(e.device, e.inode);
        for (int file = 3; is_lost && file < 1024; file++) {
            struct stat status;
            if (fstat(file, &status) != 0 || status.st_ino != e.inode || status.st_dev != e.device) continue;
            // The mark is overwritten in place, within one sector. If that write is lost, the durable bytes stay, not
            // zeroes.
            char path[4096];
            path_of(file, path, sizeof path);
            if (strstr(path, "fetchd.mark")) break;
            off64_t end = e.end < status.st_size ? e.end : status.st_size;
            if (end > e.start) real_fallocate64(file, 0x03 /* PUNCH_HOLE | KEEP_SIZE */, e.start, end - e.start);
            break;
        }
    }
    extent_count = kept;
}

// ---- Rules

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static bool is_about(const struct rule *rule, const char *path) {
    size_t part = strlen(rule->path), whole = strlen(path);
    if (!strcmp(rule->path, "*")) return true;
    if (rule->path[part - 1] != '$') return strstr(path, rule->path);
    return whole >= part - 1 && !strncmp(path + whole - (part - 1), rule->path, part - 1);
}

// Counts the call and finds the rule that applies to it. The caller holds the lock.
static struct rule *judge(enum call call, const char *path) {
    if (counts) counts[call]++;
    read_rules();
    for (int i = 0; i < rule_count; i++) {
        struct rule *rule = &rules[i];
        if (!(rule->calls & 1u << call)) continue;
        if (!is_about(rule, path)) continue;
        rule->seen++;
        if (rule->seen < rule->first || (rule->last >= 0 && rule->seen > rule->last)) continue;
        if (log_file >= 0) dprintf(log_file, "%s %s %s\n", call_names[call], path, rule->text);
        if (rule->action == ACT_KILL) die();
        return rule;
    }
    return NULL;
}

struct verdict { enum action action; int error; };

// The caller holds the lock. Other threads make their calls meanwhile.
static void wait_for_other_rules(void) {
    struct timespec pause = {0, 5000000};
    for (long then = replacements; replacements == then; read_rules()) {
        pthread_mutex_unlock(&lock);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&lock);
    }
}

static struct verdict enter(enum call call, const char *path) {
    int saved = errno;
    lock_state();
    struct rule *rule = judge(call, path);
    struct verdict verdict = rule ? (struct verdict){rule->action, rule->error} : (struct verdict){0};
    if (verdict.action == ACT_HOLD) wait_for_other_rules();
    errno = saved;
    return verdict;
}

static bool fails(struct verdict verdict) {
    return verdict.action == ACT_ERROR || verdict.action == ACT_SHORT || verdict.action == ACT_LOSE;
}

// Unlocks and returns `result` to the caller, unless the rule kills the process.
static ssize_t leave(struct verdict verdict, ssize_t result) {
    int saved = errno;
    if (verdict.action == ACT_KILL_AFTER) die();
    pthread_mutex_unlock(&lock);
    errno = saved;
    return result;
}

static ssize_t refuse(struct verdict verdict) {
    pthread_mutex_unlock(&lock);
    errno = verdict.error;
    return -1;
}

// ---- The calls

static void wrote(int file, const char *path, const void *bytes, ssize_t count, off64_t offset) {
    struct stat status;
    if (count <= 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return;
    note_written(&status, offset, offset + count);
    if (is_traced(path)) record(KIND_WRITE, &status, offset, 0, bytes, count);
}

ssize_t write(int file, const void *bytes, size_t count) {
    char path[4096];
    path_of(file, path, sizeof path);
    struct verdict verdict = enter(CALL_WRITE, path);
    if (verdict.action == ACT_SHORT && count > 1) count /= 2;
    else if (fails(verdict)) return refuse(verdict);
    off64_t offset = lseek64(file, 0, SEEK_CUR);
    int flags = fcntl(file, F_GETFL);
    struct stat status;
    if (flags >= 0 && flags & O_APPEND && fstat(file, &status) == 0) offset = status.st_size;
    errno = 0;
    // A pipe or socket may block for long, so the lock is not held.
    if (offset < 0) {
        pthread_mutex_unlock(&lock);
        ssize_t done = real_write(file, bytes, count);
        if (verdict.action == ACT_KILL_AFTER) die();
        return done;
    }
    ssize_t done = real_write(file, bytes, count);
    wrote(file, path, bytes, done, offset);
    return leave(verdict, done);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    char path[4096];
    path_of(file, path, sizeof path);
    struct verdict verdict = enter(CALL_PWRITE, path);
    if (verdict.action == ACT_SHORT && count > 1) count /= 2;
    else if (fails(verdict)) return refuse(verdict);
    ssize_t done = real_pwrite64(file, bytes, count, offset);
    wrote(file, path, bytes, done, offset);
    return leave(verdict, done);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return pwrite64(file, bytes, count, offset);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    char path[4096];
    path_of(file, path, sizeof path);
    struct verdict verdict = enter(CALL_WRITEV, path);
    if (fails(verdict)) return refuse(verdict);
    pthread_mutex_unlock(&lock);
    ssize_t done = real_writev(file, parts, count);
    if (verdict.action == ACT_KILL_AFTER) die();
    return done;
}

static int64_t syncs;

static int sync_one(enum call call, int file, int (*real)(int)) {
    char path[4096];
    path_of(file, path, sizeof path);
    struct verdict verdict = enter(call, path);
    struct stat status = {0};
    fstat(file, &status);
    bool is_whole = call == CALL_SYNCFS;
    if (fails(verdict)) {
        end_extents(status.st_dev, is_whole ? 0 : status.st_ino, verdict.action == ACT_LOSE);
        return refuse(verdict);
    }
    if (!is_whole && take_loser(status.st_dev, status.st_ino)) {
        end_extents(status.st_dev, status.st_ino, true);
        return refuse((struct verdict){ACT_LOSE, EIO});
    }
    // Other threads may write meanwhile. This sync does not cover their writes.
    end_extents(status.st_dev, is_whole ? 0 : status.st_ino, false);
    int64_t number = ++syncs;
    bool traced = trace_file >= 0 && (is_whole || is_traced(path));
    if (traced) record_path(is_whole ? KIND_SYNCFS_BEGIN : KIND_SYNC_BEGIN, &status, number, path);
    pthread_mutex_unlock(&lock);
    int result = real(file);
    int saved = errno;
    pthread_mutex_lock(&lock);
    errno = saved;
    if (traced && result == 0) record_path(is_whole ? KIND_SYNCFS_END : KIND_SYNC_END, &status, number, path);
    return leave(verdict, result);
}

int fdatasync(int file) { return sync_one(CALL_FDATASYNC, file, (pthread_once(&once, begin), real_fdatasync)); }
int fsync(int file) { return sync_one(CALL_FSYNC, file, (pthread_once(&once, begin), real_fsync)); }
int syncfs(int file) { return sync_one(CALL_SYNCFS, file, (pthread_once(&once, begin), real_syncfs)); }

int sync_file_range(int file, off64_t offset, off64_t count, unsigned int flags) {
    char path[4096];
    path_of(file, path, sizeof path);
    struct verdict verdict = enter(CALL_SYNC_FILE_RANGE, path);
    if (fails(verdict)) return refuse(verdict);
    return leave(verdict, real_sync_file_range(file, offset, count, flags));
}

static int moved(enum call call, enum kind kind, int from_folder, const char *from, int to_folder, const char *to,
                 int (*real)(int, const char *, int, const char *, unsigned int), unsigned int flags) {
    char before[4096], after[4096];
    path_at(from_folder, from, before, sizeof before);
    path_at(to_folder, to, after, sizeof after);
    struct verdict verdict = enter(call, after);
    if (fails(verdict)) return refuse(verdict);
    int result = real(from_folder, from, to_folder, to, flags);
    int saved = errno;
    struct stat status;
    if (result == 0 && trace_file >= 0 && (is_traced(before) || is_traced(after))
        && fstatat(to_folder, to, &status, AT_SYMLINK_NOFOLLOW) == 0)
        record_two(kind, &status, 0, before, after);
    errno = saved;
    return leave(verdict, result);
}

static int plain_renameat(int a, const char *from, int b, const char *to, unsigned int flags) {
    (void)flags;
    return real_renameat(a, from, b, to);
}
static int plain_linkat(int a, const char *from, int b, const char *to, unsigned int flags) {
    return real_linkat(a, from, b, to, (int)flags);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned int flags) {
    pthread_once(&once, begin);
    return moved(CALL_RENAME, KIND_RENAME, a, from, b, to, real_renameat2, flags);
}
int renameat(int a, const char *from, int b, const char *to) {
    return moved(CALL_RENAME, KIND_RENAME, a, from, b, to, plain_renameat, 0);
}
int rename(const char *from, const char *to) {
    return moved(CALL_RENAME, KIND_RENAME, AT_FDCWD, from, AT_FDCWD, to, plain_renameat, 0);
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
    return moved(CALL_LINK, KIND_LINK, a, from, b, to, plain_linkat, (unsigned)flags);
}
int link(const char *from, const char *to) {
    return moved(CALL_LINK, KIND_LINK, AT_FDCWD, from, AT_FDCWD, to, plain_linkat, 0);
}

int unlinkat(int folder, const char *name, int flags) {
    char path[4096];
    path_at(folder, name, path, sizeof path);
    struct verdict verdict = enter(CALL_UNLINK, path);
    if (fails(verdict)) return refuse(verdict);
    struct stat status = {0};
    fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW);
    int result = real_unlinkat(folder, name, flags);
    int saved = errno;
    if (result == 0 && is_traced(path)) record_path(KIND_UNLINK, &status, 0, path);
    errno = saved;
    return leave(verdict, result);
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int ftruncate64(int file, off64_t length) {
    char path[4096];
    path_of(file, path, sizeof path);
    struct verdict verdict = enter(CALL_FTRUNCATE, path);
    if (fails(verdict)) return refuse(verdict);
    int result = real_ftruncate64(file, length);
    int saved = errno;
    struct stat status;
    if (result == 0 && is_traced(path) && fstat(file, &status) == 0)
        record(KIND_TRUNCATE, &status, length, 0, path, strlen(path));
    errno = saved;
    return leave(verdict, result);
}
int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

int fallocate64(int file, int mode, off64_t offset, off64_t length) {
    char path[4096];
    path_of(file, path, sizeof path);
    struct verdict verdict = enter(CALL_FALLOCATE, path);
    if (fails(verdict)) return refuse(verdict);
    struct stat before = {0}, after = {0};
    fstat(file, &before);
    int result = real_fallocate64(file, mode, offset, length);
    int saved = errno;
    if (result == 0 && is_traced(path) && fstat(file, &after) == 0 && after.st_size != before.st_size)
        record(KIND_TRUNCATE, &after, after.st_size, 0, path, strlen(path));
    errno = saved;
    return leave(verdict, result);
}
int fallocate(int file, int mode, off_t offset, off_t length) { return fallocate64(file, mode, offset, length); }

// This call is only recorded. No rule applies to it.
int fchmod(int file, mode_t mode) {
    char path[4096];
    path_of(file, path, sizeof path);
    lock_state();
    int result = real_fchmod(file, mode);
    int saved = errno;
    struct stat status;
    if (result == 0 && is_traced(path) && fstat(file, &status) == 0) record_permissions(KIND_MODE, &status, 0, path);
    errno = saved;
    return leave((struct verdict){0}, result);
}

static int opened(int folder, const char *name, int flags, mode_t mode) {
    char path[4096];
    path_at(folder, name, path, sizeof path);
    struct verdict verdict = enter(CALL_OPEN, path);
    if (fails(verdict)) return refuse(verdict);
    struct stat status;
    bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE;
    bool is_new = is_traced(path)
        && (is_nameless || (flags & O_CREAT && fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0));
    int file = real_openat64(folder, name, flags, mode);
    int saved = errno;
    if (file >= 0 && is_new && fstat(file, &status) == 0)
        record_permissions(KIND_CREATE, &status, birth_time(file), is_nameless ? "" : path);
    if (file >= 0 && !is_new && flags & O_TRUNC && is_traced(path) && fstat(file, &status) == 0)
        record(KIND_TRUNCATE, &status, 0, 0, path, strlen(path));
    errno = saved;
    return leave(verdict, file);
}

#define MODE_ARGUMENT(flags, mode) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode = va_arg(arguments, mode_t); \
        va_end(arguments); \
    }

int openat64(int folder, const char *name, int flags, ...) { MODE_ARGUMENT(flags, mode) return opened(folder, name, flags, mode); }
int openat(int folder, const char *name, int flags, ...) { MODE_ARGUMENT(flags, mode) return opened(folder, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE_ARGUMENT(flags, mode) return opened(AT_FDCWD, name, flags, mode); }
int open(const char *name, int flags, ...) { MODE_ARGUMENT(flags, mode) return opened(AT_FDCWD, name, flags, mode); }

int mkdirat(int folder, const char *name, mode_t mode) {
    char path[4096];
    path_at(folder, name, path, sizeof path);
    struct verdict verdict = enter(CALL_MKDIR, path);
    if (fails(verdict)) return refuse(verdict);
    int result = real_mkdirat(folder, name, mode);
    int saved = errno;
    struct stat status = {0};
    if (result == 0 && is_traced(path) && fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        record_permissions(KIND_MKDIR, &status, 0, path);
    errno = saved;
    return leave(verdict, result);
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

// Sockets may block, so the lock is never held.
ssize_t sendto(int socket, const void *bytes, size_t count, int flags, const struct sockaddr *to, socklen_t size) {
    struct verdict verdict = enter(CALL_SENDTO, "socket");
    if (fails(verdict)) return refuse(verdict);
    pthread_mutex_unlock(&lock);
    ssize_t done = real_sendto(socket, bytes, count, flags, to, size);
    if (verdict.action == ACT_KILL_AFTER) die();
    return done;
}
ssize_t send(int socket, const void *bytes, size_t count, int flags) {
    return sendto(socket, bytes, count, flags, NULL, 0);
}
ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    struct verdict verdict = enter(CALL_SENDMSG, "socket");
    if (fails(verdict)) return refuse(verdict);
    pthread_mutex_unlock(&lock);
    ssize_t done = real_sendmsg(socket, message, flags);
    if (verdict.action == ACT_KILL_AFTER) die();
    return done;
}
