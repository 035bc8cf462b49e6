#include "training/trainer/output/step_times.h"

#include "planning/compute.h"
#include "planning/order/order.h"

#include <algorithm>
#include <optional>

namespace lockstep {
namespace {

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

// The last step of an epoch may have padding, which is no work. So it is counted as a fraction of a
// step: its share of real samples.
double part_of_a_step(const Plan& plan, std::int64_t step) {
  const std::int64_t global = plan.batch.global;
  if (plan.epoch_size <= 0 || plan.steps_per_epoch <= 0 || global <= 0) return 1;
  const EpochSteps epoch{.size = plan.epoch_size,
                         .global = global,
                         .drop_last = plan.steps_per_epoch == plan.epoch_size / global};
  return static_cast<double>(epoch.samples(step)) / static_cast<double>(global);
}

}  // namespace

void StepTimes::add(const StepResult& result, const OwnTimes& own) {
  ++steps_;
  full_steps_ += part_of_a_step(plan_, result.step - 1);
  own_.data_s += own.data_s;
  own_.wait_s += own.wait_s;
  own_.save_s += own.save_s;
  rank_waits_s_.resize(result.ranks.size());
  for (std::size_t r = 0; r < result.ranks.size(); ++r) rank_waits_s_[r] += result.ranks[r].wait_s;
}

nlohmann::json StepTimes::take(double now_s) {
  const double window_s = std::max(now_s - begin_s_, 1e-9);
  recent_.add(full_steps_, window_s);
  mean_.add(full_steps_, window_s);
  const double recent_step_s = *recent_.step_s();
  const auto share = [&](double seconds) { return std::clamp(seconds / window_s, 0.0, 1.0); };
  const double data = share(own_.data_s), wait = share(own_.wait_s), save = share(own_.save_s);
  nlohmann::json fields{{"step_s", window_s / static_cast<double>(steps_)},
                        {"units_per_s", plan_.units_per_step / recent_step_s},
                        {"mfu", or_null(mfu(plan_.compute, recent_step_s))},
                        {"data_share", data},
                        {"wait_share", wait},
                        {"save_share", save},
                        {"compute_share", std::max(0.0, 1 - data - wait - save)}};
  if (rank_waits_s_.size() > 1)
    for (const double wait_s : rank_waits_s_) fields["rank_wait_shares"].push_back(share(wait_s));
  begin_s_ = now_s;
  steps_ = 0;
  full_steps_ = 0;
  own_ = {};
  rank_waits_s_.clear();
  return fields;
}

nlohmann::json StepTimes::mean() const {
  const std::optional<double> step_s = mean_.seconds();
  if (!step_s) return {{"units_per_s", nullptr}, {"mfu", nullptr}};
  return {{"units_per_s", plan_.units_per_step / *step_s},
          {"mfu", or_null(mfu(plan_.compute, *step_s))}};
}

}  // namespace lockstep
