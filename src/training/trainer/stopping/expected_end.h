// Forecasts how long an evaluation takes, from its progress.
#pragma once

#include "core/base/clock.h"

#include <limits>

namespace lockstep {

class ExpectedEnd {
 public:
  explicit ExpectedEnd(Clock& clock) : clock_(clock), begin_s_(clock.now_s()) {}
  // Makes a new forecast. done: the fraction of this rank's rows that is evaluated, above 0. If
  // `done` is not larger than in the last call, the evaluation has started again. The forecast
  // leaves out the time of the first batch, because this batch also loads kernels.
  void update(double done);
  // Seconds from construction to the last update, including earlier tries of the evaluation.
  double gone_s() const { return gone_s_; }
  // The expected total time of the evaluation in seconds, as of the last update.
  double expected_s() const { return expected_s_; }

 private:
  Clock& clock_;
  double begin_s_, gone_s_ = 0, expected_s_ = 0;
  double first_s_ = 0, first_done_ = 0;
  double last_done_ = std::numeric_limits<double>::infinity();  // infinite before the first update
};

}  // namespace lockstep
