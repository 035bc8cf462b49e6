#include "training/trainer/stopping/agreed_time.h"

#include "core/base/text/text.h"

#include <algorithm>
#include <limits>
#include <string>

namespace lockstep {

AgreedTime::AgreedTime(ProcessGroup& group, const Quota& quota, const TimeAhead& ahead,
                       Recorder* recorder)
    : group_(group), quota_(quota), ahead_(ahead), recorder_(recorder) {}

bool AgreedTime::is_spent(double step_s) const {
  return group_.share("spent", quota_.over(step_s) ? "1" : "") == "1";
}

double AgreedTime::evaluation_limit_s(std::int64_t step) {
  if (quota_.allowed_s() == 0) return std::numeric_limits<double>::infinity();
  if (!evaluations_fit_) return 0;
  const std::string why = recorder_ ? ahead_.no_evaluation() : "";
  constexpr double never = -1;
  double limit_s = std::max(ahead_.evaluation_limit_s(), 0.0);
  if (!why.empty()) {
    limit_s = ahead_.knows_evaluations() ? never : 0;
    recorder_->evaluation_left_out(step, why);
  }
  const double agreed_s = std::stod(group_.share("evaluation may take", fixed(limit_s, 3)));
  evaluations_fit_ = agreed_s != never;
  return std::max(agreed_s, 0.0);
}

bool AgreedTime::save_fits() const {
  if (quota_.allowed_s() == 0) return true;
  return group_.share("save fits", recorder_ && ahead_.save_fits() ? "1" : "") == "1";
}

}  // namespace lockstep
