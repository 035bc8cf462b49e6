// Runs OpenMP's parallel regions of one thread without the cost of a team. GCC's OpenMP runtime
// makes a team for each region, even for one thread, and ends it with a system call. A training on
// some hundred rows has thousands of regions. Without teams, it takes an eighth less time.
#pragma once

#include <cstdint>

namespace lockstep::gbdt {

// While an object with `wanted` exists, regions that this thread begins for one thread become plain
// function calls. Their code then runs outside of any region, with the same effect. All other
// regions are left to the runtime. This works only for libraries that GCC compiled, in programs
// that link this file.
class OneThread {
 public:
  explicit OneThread(bool wanted);
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

  static std::int64_t plain_calls();  // number of such calls on this thread so far

 private:
  bool before_;
};

}  // namespace lockstep::gbdt
