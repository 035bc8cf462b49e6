#include "training/trainer/stopping/expected_end.h"

#include <utility>

namespace lockstep {

void ExpectedEnd::update(double done) {
  gone_s_ = expected_s_ = clock_.now_s() - begin_s_;
  if (done <= std::exchange(last_done_, done)) {
    first_done_ = done;
    first_s_ = gone_s_;
  } else {
    expected_s_ += (gone_s_ - first_s_) / (done - first_done_) * (1 - done);
  }
}

}  // namespace lockstep
