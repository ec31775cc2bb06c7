// Counts what a program does with locks, for bench/locks: preloaded, it stands before the C library's functions.  The
// counts are in a file that LOCK_COUNTS names, which other processes can read at any time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// Each thread has a line of its own, so that counting makes no lock slower that is not shared.
enum { kThreads = 1024, kKinds = 8 };
enum { kLocks, kWaits, kSleeps, kWakes };
static _Atomic unsigned long (*counts)[kKinds];
static _Atomic unsigned threads;
static _Thread_local unsigned mine;

static int (*real_lock)(pthread_mutex_t*);
static int (*real_try)(pthread_mutex_t*);
static int (*real_wait)(pthread_cond_t*, pthread_mutex_t*);
static int (*real_clockwait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
static int (*real_signal)(pthread_cond_t*);
static int (*real_broadcast)(pthread_cond_t*);

__attribute__((constructor)) static void begin(void) {
  real_try = dlsym(RTLD_NEXT, "pthread_mutex_trylock");
  real_wait = dlsym(RTLD_NEXT, "pthread_cond_wait");
  real_clockwait = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  real_signal = dlsym(RTLD_NEXT, "pthread_cond_signal");
  real_broadcast = dlsym(RTLD_NEXT, "pthread_cond_broadcast");
  real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  const char* path = getenv("LOCK_COUNTS");
  const int file = path ? open(path, O_RDWR) : -1;
  if (file < 0 || ftruncate(file, sizeof(*counts) * kThreads) != 0) return;
  void* there = mmap(NULL, sizeof(*counts) * kThreads, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (there != MAP_FAILED) counts = there;
}

static void count(int kind) {
  if (!counts) return;
  if (!mine) mine = atomic_fetch_add(&threads, 1) % (kThreads - 1) + 1;
  atomic_fetch_add_explicit(&counts[mine][kind], 1, memory_order_relaxed);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (!real_lock) begin();
  count(kLocks);
  if (real_try(mutex) == 0) return 0;
  count(kWaits);
  return real_lock(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  if (!real_lock) begin();
  count(kLocks);
  return real_try(mutex);
}
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (!real_lock) begin();
  count(kSleeps);
  return real_wait(condition, mutex);
}
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  if (!real_lock) begin();
  count(kSleeps);
  return real_clockwait(condition, mutex, clock, until);
}
int pthread_cond_signal(pthread_cond_t* condition) {
  if (!real_lock) begin();
  count(kWakes);
  return real_signal(condition);
}
int pthread_cond_broadcast(pthread_cond_t* condition) {
  if (!real_lock) begin();
  count(kWakes);
  return real_broadcast(condition);
}
