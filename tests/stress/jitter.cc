// With ROWBLOOM_JITTER in the environment, threads pause now and then before
// they take a lock and after they release one, and before they go on after a
// wait, so that orders of their steps that are rare otherwise come up. These
// functions take the place of the C library's, for RocksDB's calls, too.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace {

constexpr uint64_t kCallsForAPause = 400;
constexpr uint64_t kWaitsForAPause = 4;
constexpr uint64_t kLongestPauseUs = 800;

bool Pauses() {
  static const bool pauses = std::getenv("ROWBLOOM_JITTER") != nullptr;
  return pauses;
}

void PauseAtTimes(uint64_t calls_for_a_pause) {
  if (!Pauses()) return;
  static thread_local uint64_t state = 0;
  // The address of its state gives each thread a sequence of its own.
  if (state == 0) state = reinterpret_cast<uintptr_t>(&state) | 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  if (state % calls_for_a_pause != 0) return;
  usleep(static_cast<useconds_t>((state >> 32) % kLongestPauseUs));
}

// The C library's function of this name.
template <typename Function>
Function* Original(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static auto* const original =
      Original<int(pthread_mutex_t*)>("pthread_mutex_lock");
  PauseAtTimes(kCallsForAPause);
  return original(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  static auto* const original =
      Original<int(pthread_mutex_t*)>("pthread_mutex_unlock");
  const int result = original(mutex);
  PauseAtTimes(kCallsForAPause);
  return result;
}

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  static auto* const original =
      Original<int(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
  PauseAtTimes(kCallsForAPause);
  return original(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  static auto* const original =
      Original<int(pthread_rwlock_t*)>("pthread_rwlock_wrlock");
  PauseAtTimes(kCallsForAPause);
  return original(lock);
}

// The thread takes its mutex later than it would. Its caller looks whether it
// was woken for nothing in any case.
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static auto* const original =
      Original<int(pthread_cond_t*, pthread_mutex_t*)>("pthread_cond_wait");
  const int result = original(condition, mutex);
  if (result != 0 || !Pauses()) return result;
  pthread_mutex_unlock(mutex);
  PauseAtTimes(kWaitsForAPause);
  return pthread_mutex_lock(mutex);
}

}  // extern "C"
