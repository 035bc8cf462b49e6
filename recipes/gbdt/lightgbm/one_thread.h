// Parallel regions of one thread without what a team costs. GCC's OpenMP runtime makes a team for
// each region, also of one thread, and ends it with a call of the kernel: in a training on some
// hundred rows, of thousands of regions, that is an eighth of the time.
#pragma once

#include <cstdint>

namespace lockstep::gbdt {

// As long as this lives, regions that this thread begins for one thread are plain calls: what they
// hold runs as it would outside of any region, which for one thread is the same. All others go to
// the runtime, as always. Only for libraries that GCC has compiled, in programs that link this.
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
