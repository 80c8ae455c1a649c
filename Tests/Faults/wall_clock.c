// A library for LD_PRELOAD that sets the wall clock of one process, also while it runs.
//
//   cc -shared -fPIC -O2 -Wall -Wextra -Werror -o wall_clock.so wall_clock.c -ldl
//   WALL_CLOCK_OFFSET=offset LD_PRELOAD=./wall_clock.so fetchd serve ...
//
// WALL_CLOCK_OFFSET is a file of eight bytes: the seconds, in the machine's byte order, by which the wall clock is ahead
// of the machine's. It is mapped, so a write to it takes effect at once.
//
// Only CLOCK_REALTIME is changed. Clocks that count from the start of the machine, and every timer, stay as they are, as
// they do when the clock of a machine is set. (libfaketime 0.9.10 moves absolute timers of timerfd_settime(2) whatever
// their clock is, so that those of the Swift runtime never fire.) Waits until a time of CLOCK_REALTIME are not changed;
// fetchd and its libraries use none.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t none;
static const volatile int64_t *offset = &none;
static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("WALL_CLOCK_OFFSET");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) offset = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    // The constructor of another library may make a call before ours has run. Such a call looks up the function itself.
    if (!real_clock_gettime) *(void **)&real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real_clock_gettime(clock, time);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += *offset;
    return status;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
