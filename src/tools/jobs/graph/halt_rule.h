// Decides whether a batch ends before all its jobs are over: --halt, as in GNU parallel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/jobs/ledger/ledger.h"

namespace lockstep {

class HaltRule {
 public:
  // soon: running jobs may finish; now: running jobs are ended
  enum class How { never, soon, now };

  HaltRule() = default;
  // Parses "never", "soon,fail=3", "now,success=1" or "soon,done=10%". Throws Error for other
  // forms.
  explicit HaltRule(std::string_view text);

  // Counts a finished job. of: the number of all jobs, on which a percentage is based.
  void count(JobState state, std::int64_t of);
  // Returns the action of the rule once, when its limit is reached. All other calls return
  // How::never.
  How due();
  std::string why() const;  // the reason: "2 jobs failed (--halt soon,fail=2)"
  bool for_success() const { return what_ == What::success; }

 private:
  enum class What { fail, success, done };
  bool counts(JobState state) const;

  std::string text_;
  How how_ = How::never;
  What what_ = What::fail;
  double limit_ = 0;  // a number of jobs, or a share of all jobs if `is_share_` is true
  bool is_share_ = false, reached_ = false, said_ = false;
  std::int64_t counted_ = 0;
};

}  // namespace lockstep
