// Parallel regions of one thread without the cost of a team. GCC's OpenMP runtime makes a team for
// each region, also for one thread, and ends it with a call of the kernel. A training on some
// hundred rows has thousands of regions, and there this is an eighth of the time.
#pragma once

#include <cstdint>

namespace lockstep::gbdt {

// During its lifetime, regions that this thread begins for one thread are plain calls: their code
// runs as it would outside of any region, which for one thread is the same. All others go to the
// runtime, as always. Only for libraries that GCC has compiled, in programs that link this.
class OneThread {
 public:
  explicit OneThread(bool wanted);
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

  static std::int64_t plain_calls();  // of this thread so far

 private:
  bool before_;
};

}  // namespace lockstep::gbdt
