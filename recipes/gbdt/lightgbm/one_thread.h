// Runs OpenMP's parallel regions of one thread without the cost of a team of threads. GCC's OpenMP
// runtime makes a team for each region, even for one thread, and ends it with a system call. A
// training on some hundred rows has thousands of regions. Without teams, the training takes an
// eighth less time.
#pragma once

#include <cstdint>

namespace lockstep::gbdt {

// While an object with `wanted` = true exists, this thread runs parallel regions for one thread as
// plain function calls. The code of the region then runs outside of any parallel region, with the
// same effect. All other regions are left to the OpenMP runtime. OneThread works only for libraries
// that GCC compiled, in programs that link this file.
class OneThread {
 public:
  explicit OneThread(bool wanted);
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

  static std::int64_t plain_calls();  // plain function calls on this thread so far

 private:
  bool before_;
};

}  // namespace lockstep::gbdt
