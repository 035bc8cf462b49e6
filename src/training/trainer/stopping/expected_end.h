// Forecasts how long an evaluation takes, from its progress.
#pragma once

#include "core/base/clock.h"

#include <limits>

namespace lockstep {

class ExpectedEnd {
 public:
  explicit ExpectedEnd(Clock& clock) : clock_(clock), begin_s_(clock.now_s()) {}
  // done: the share of this rank's rows that is evaluated, above 0 and rising. If it is not larger
  // than before, the evaluation has started again. The forecast does not use the first batch,
  // because it loads kernels.
  void update(double done);
  double gone_s() const { return gone_s_; }          // seconds so far, including earlier starts
  double expected_s() const { return expected_s_; }  // as of the last update

 private:
  Clock& clock_;
  double begin_s_, gone_s_ = 0, expected_s_ = 0;
  double first_s_ = 0, first_done_ = 0;
  double last_done_ = std::numeric_limits<double>::infinity();  // none yet
};

}  // namespace lockstep
