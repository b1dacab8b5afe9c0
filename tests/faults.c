/* A disk and a clock that fail by a seed: preloaded, it stands between a program and the C library, so that Python and
 * SQLite have the same disk. One operation on a file below a folder fails, is cut short, or is the last of the process;
 * clocks jump. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum kind { IO_ERROR, NO_SPACE, DISK_STAYS_FULL, SHORT, KILL_BEFORE, KILL_AFTER, KILL_HALFWAY };

static char home[4096];
static atomic_long done, at = -1;
static atomic_int kind;
static atomic_ullong state;

static uint64_t draw(void) {
    /* SplitMix64. */
    uint64_t z = atomic_fetch_add(&state, 0x9e3779b97f4a7c15) + 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Begin to count operations below a folder; the one of this number fails, none if it is 0. */
void faults_arm(const char *folder, long number, int what, uint64_t seed) {
    snprintf(home, sizeof home, "%s", folder);
    atomic_store(&state, seed);
    atomic_store(&kind, what);
    atomic_store(&done, 0);
    atomic_store(&at, number);
}

long faults_counted(void) { return atomic_load(&done); }

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("ACKCLOCK_FAULTS");
    long number;
    int what, length;
    unsigned long long seed;
    if (text && sscanf(text, "%ld,%d,%llu,%n", &number, &what, &seed, &length) == 3)
        faults_arm(text + length, number, what, seed);
}

__attribute__((destructor)) static void end(void) {
    const char *file = getenv("ACKCLOCK_FAULTS_COUNT");
    FILE *out = file ? fopen(file, "a") : NULL;
    if (out) {
        fprintf(out, "%ld\n", atomic_load(&done));
        fclose(out);
    }
}

static int is_below(const char *path) {
    if (atomic_load(&at) < 0 || !path) return 0;
    char whole[8192];
    if (path[0] != '/') {
        if (!getcwd(whole, 4000)) return 0;
        size_t length = strlen(whole);
        snprintf(whole + length, sizeof whole - length, "/%s", path);
        path = whole;
    }
    return !strncmp(path, home, strlen(home));
}

static int is_file_below(int file) {
    if (atomic_load(&at) < 0) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    /* An event that wakes a thread, which has a descriptor, too, has a name without a slash. */
    if (length < 0 || path[0] != '/') return 0;
    path[length] = 0;
    return is_below(path);
}

static void end_here(void) { kill(getpid(), SIGKILL); pause(); }

/* Return the kind of the fault of this operation, or -1. */
static int fault(int is_write) {
    long number = atomic_fetch_add(&done, 1) + 1, when = atomic_load(&at);
    int what = atomic_load(&kind);
    if (number > when && when > 0 && what == DISK_STAYS_FULL && is_write) return NO_SPACE;
    return number == when ? what : -1;
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);

/* An operation that happens as a whole or not at all. */
#define WHOLE(below, call, is_write) \
    do { \
        if (!(below)) return call; \
        int what = fault(is_write); \
        if (what == KILL_BEFORE || what == KILL_HALFWAY) end_here(); \
        if (what == IO_ERROR || what == SHORT) return errno = EIO, -1; \
        if (what == NO_SPACE || what == DISK_STAYS_FULL) return errno = ENOSPC, -1; \
        int result = call; \
        if (what == KILL_AFTER) end_here(); \
        return result; \
    } while (0)

/* An operation on bytes, of which half may be written. */
#define BYTES(below, all, half) \
    do { \
        if (!(below)) return all; \
        int what = fault(1); \
        if (what == KILL_BEFORE) end_here(); \
        if (what == IO_ERROR) return errno = EIO, -1; \
        if (what == NO_SPACE || what == DISK_STAYS_FULL) return errno = ENOSPC, -1; \
        ssize_t result = what == SHORT || what == KILL_HALFWAY ? half : all; \
        if (what == KILL_AFTER || what == KILL_HALFWAY) end_here(); \
        return result; \
    } while (0)

ssize_t write(int file, const void *bytes, size_t count) {
    REAL(write)
    BYTES(is_file_below(file), real(file, bytes, count), real(file, bytes, (count + 1) / 2));
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t place) {
    REAL(pwrite64)
    BYTES(is_file_below(file), real(file, bytes, count, place), real(file, bytes, (count + 1) / 2, place));
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t place) {
    REAL(pwrite)
    BYTES(is_file_below(file), real(file, bytes, count, place), real(file, bytes, (count + 1) / 2, place));
}

int fsync(int file) { REAL(fsync) WHOLE(is_file_below(file), real(file), 0); }
int fdatasync(int file) { REAL(fdatasync) WHOLE(is_file_below(file), real(file), 0); }
int ftruncate64(int file, off64_t size) { REAL(ftruncate64) WHOLE(is_file_below(file), real(file, size), 0); }
int rename(const char *from, const char *to) { REAL(rename) WHOLE(is_below(from), real(from, to), 0); }
int unlink(const char *path) { REAL(unlink) WHOLE(is_below(path), real(path), 0); }
int rmdir(const char *path) { REAL(rmdir) WHOLE(is_below(path), real(path), 0); }
int mkdir(const char *path, mode_t mode) { REAL(mkdir) WHOLE(is_below(path), real(path, mode), 1); }

static int opens(const char *path, int flags) { return (flags & O_CREAT) && is_below(path); }

int open64(const char *path, int flags, ...) {
    REAL(open64)
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    WHOLE(opens(path, flags), real(path, flags, mode), 1);
}

int open(const char *path, int flags, ...) {
    REAL(open)
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    WHOLE(opens(path, flags), real(path, flags, mode), 1);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(clock_gettime)
    static atomic_long later_s;
    int result = real(clock, now);
    if (atomic_load(&at) <= 0 || result) return result;
    /* A clock that only grows jumps by up to a second, as when a machine is busy; the time of day by days. */
    if (clock == CLOCK_MONOTONIC && draw() % 4 == 0) atomic_fetch_add(&later_s, 1);
    if (clock == CLOCK_MONOTONIC) now->tv_sec += atomic_load(&later_s);
    if (clock == CLOCK_REALTIME) now->tv_sec += (long)(draw() % 2000000) - 1000000;
    return result;
}
