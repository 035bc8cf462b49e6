#include "recipes/gbdt/lightgbm/one_thread.h"

#include <dlfcn.h>

#include <memory>
#include <utility>

#include "core/base/check.h"

namespace lockstep::gbdt {
namespace {

thread_local bool plain = false;
thread_local std::int64_t calls = 0;

}  // namespace

OneThread::OneThread(bool wanted) : before_(std::exchange(plain, wanted)) {}
OneThread::~OneThread() { plain = before_; }

std::int64_t OneThread::plain_calls() { return calls; }

}  // namespace lockstep::gbdt

using ParallelRegion = void(void (*work)(void*), void* data, unsigned threads, unsigned flags);

extern "C" __attribute__((visibility("default"))) ParallelRegion GOMP_parallel;

namespace lockstep::gbdt {
namespace {

// Finds GOMP_parallel in the runtime that is linked to the caller's library.
ParallelRegion* region_of(void* caller) {
  Dl_info info{};
  LOCKSTEP_CHECK(::dladdr(caller, &info) != 0);
  const std::unique_ptr<void, int (*)(void*)> library(
      ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD), ::dlclose);
  LOCKSTEP_CHECK(library != nullptr);
  auto* const found = reinterpret_cast<ParallelRegion*>(::dlsym(library.get(), "GOMP_parallel"));
  LOCKSTEP_CHECK(found != nullptr && found != &GOMP_parallel);
  return found;
}

}  // namespace
}  // namespace lockstep::gbdt

// Replaces libgomp's function in libraries that this program loads, because the program's symbols
// are found first. A region for one thread becomes a plain call. Calls inside a team are passed on,
// because their work is divided among its threads.
void GOMP_parallel(void (*work)(void*), void* data, unsigned threads, unsigned flags) {
  using lockstep::gbdt::plain;
  if (plain && threads == 1) {
    ++lockstep::gbdt::calls;
    work(data);
    return;
  }
  const bool before = std::exchange(plain, false);
  thread_local void* last_caller = nullptr;
  thread_local ParallelRegion* last_region = nullptr;
  void* const caller = __builtin_return_address(0);
  if (last_region == nullptr || caller != last_caller) {
    last_region = lockstep::gbdt::region_of(caller);
    last_caller = caller;
  }
  last_region(work, data, threads, flags);
  plain = before;
}
