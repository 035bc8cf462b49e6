// Runs parallel regions of one thread without the cost of a team. GCC's OpenMP runtime makes a team
// for each region, even for one thread, and ends it with a system call. A training on some hundred
// rows has thousands of regions, and so takes an eighth less time.
#pragma once

#include <cstdint>

namespace lockstep::gbdt {

// During its lifetime, regions that this thread begins for one thread are plain calls. Their code
// runs as outside of any region, which has the same effect for one thread. All other regions are
// left to the runtime. It works only for libraries compiled by GCC, in programs that link this
// file.
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
