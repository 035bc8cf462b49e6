// How long an evaluation takes, by how far it is.
#pragma once

#include "core/base/clock.h"

#include <limits>

namespace lockstep {

class ExpectedEnd {
 public:
  explicit ExpectedEnd(Clock& clock) : clock_(clock), begin_s_(clock.now_s()) {}
  // done: the share of this rank's rows, above 0 and rising; where it is no more than before, the
  // evaluation has begun anew. Its first batch loads kernels and tells nothing.
  void update(double done);
  double gone_s() const { return gone_s_; }          // with what was begun before
  double expected_s() const { return expected_s_; }  // as of the last update

 private:
  Clock& clock_;
  double begin_s_, gone_s_ = 0, expected_s_ = 0;
  double first_s_ = 0, first_done_ = 0;
  double last_done_ = std::numeric_limits<double>::infinity();  // none yet
};

}  // namespace lockstep
