/* A wall clock that is wrong: cc -shared -fPIC skew.c -o skew.so, then LD_PRELOAD=skew.so SKEW=SECONDS. The monotonic clock stays. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long skew(void)
{
    const char *seconds = getenv("SKEW");
    return seconds ? atol(seconds) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long error = syscall(SYS_clock_gettime, clock, now);
    if (!error && clock == CLOCK_REALTIME)
        now->tv_sec += skew();
    return (int)error;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    (void)zone;
    struct timespec exact;
    int error = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return error;
}

time_t time(time_t *out)
{
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (out)
        *out = exact.tv_sec;
    return exact.tv_sec;
}
