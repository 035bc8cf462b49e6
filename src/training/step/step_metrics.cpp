#include "training/step/step_metrics.h"

#include "core/base/check.h"
#include "ops/step_scalars/step_scalars.h"

#include <ATen/ops/zeros.h>

#include <cmath>

namespace lockstep {
namespace {

// Places in the report, counted from the end of the step's sums.
constexpr std::size_t drop_slot = 0, stop_signal_slot = 1, stop_quota_slot = 2, save_slot = 3,
                      request_slots = 4;
constexpr std::size_t report_slots = 5;
// Places in the metrics of a step, counted from the end of the summed report.
constexpr std::size_t norm_slot = 0, loss_scale_slot = 1, dropped_slot = 2, begin_slot = 3,
                      end_slot = 4, own_slots = 5;

}  // namespace

StepMetrics::StepMetrics(std::size_t terms, std::size_t logged, int rank, int ranks)
    : terms_(terms),
      logged_(logged),
      rank_(static_cast<std::size_t>(rank)),
      ranks_(static_cast<std::size_t>(ranks)) {}

std::size_t StepMetrics::report_begin(std::size_t rank) const {
  return sums() + request_slots + report_slots * rank;
}

at::Tensor StepMetrics::report(const RankReport& report, Backend& backend) const {
  at::Tensor host =
      backend.host_empty({static_cast<std::int64_t>(report_begin(ranks_))}, at::kDouble);
  host.zero_();
  double* const values = host.mutable_data_ptr<double>();
  values[sums() + drop_slot] = report.out_of_memory == Phase::none ? 0 : 1;
  values[sums() + stop_signal_slot] = report.stop_signal;
  values[sums() + stop_quota_slot] = report.stop_quota;
  values[sums() + save_slot] = report.save;
  double* const own = values + report_begin(rank_);
  own[0] = report.wait_s;
  own[1] = static_cast<double>(report.memory.allocated_bytes);
  own[2] = static_cast<double>(report.memory.reserved_bytes);
  own[3] = static_cast<double>(report.memory.peak_bytes);
  own[4] = static_cast<double>(report.out_of_memory);
  return host;
}

at::Tensor StepMetrics::own(const at::Tensor& report, const at::Tensor& sums,
                            const at::Tensor& dropped, Phase failed) const {
  at::Tensor numbers = own_numbers(report, sums, dropped, drop_place());
  if (failed == Phase::none) return numbers;
  this->dropped(numbers).fill_(1.0);
  numbers[static_cast<std::int64_t>(report_begin(rank_ + 1) - 1)] = static_cast<double>(failed);
  return numbers;
}

at::Tensor StepMetrics::terms(const at::Tensor& sums) const {
  return sums.narrow(0, 0, static_cast<std::int64_t>(terms_));
}

at::Tensor StepMetrics::new_sums(const at::TensorOptions& options) const {
  return at::zeros({static_cast<std::int64_t>(sums())}, options.dtype(at::kDouble));
}

at::Tensor StepMetrics::logged(const at::Tensor& sums) const {
  const auto count = static_cast<std::int64_t>(logged_);
  return sums.narrow(0, static_cast<std::int64_t>(terms_), 2 * count).view({count, 2});
}

at::Tensor StepMetrics::dropped(const at::Tensor& sum) const {
  return sum.narrow(0, drop_place(), 1);
}

void StepMetrics::find_dropped(const at::Tensor& sum, const at::Tensor& dropped) const {
  lockstep::find_dropped(sum, static_cast<std::int64_t>(terms_), drop_place(), dropped);
}

std::int64_t StepMetrics::drop_place() const {
  return static_cast<std::int64_t>(sums() + drop_slot);
}

StepResult StepMetrics::read(std::int64_t step, const at::Tensor& whole) const {
  LOCKSTEP_CHECK(static_cast<std::size_t>(whole.numel()) == report_begin(ranks_) + own_slots);
  const double* const values = whole.const_data_ptr<double>();
  const double* const behind = values + report_begin(ranks_);
  StepResult result{.step = step,
                    .terms = {values, values + terms_},
                    .gradient_norm = behind[norm_slot],
                    .dropped = values[sums() + drop_slot] > 0,
                    .loss_scale = behind[loss_scale_slot],
                    .stop_signal = values[sums() + stop_signal_slot],
                    .stop_quota = values[sums() + stop_quota_slot],
                    .save = values[sums() + save_slot],
                    .wait_s = behind[end_slot] - behind[begin_slot]};
  for (const double term : result.terms) result.loss += term;
  for (std::size_t i = terms_; i < sums(); i += 2)
    result.logged.push_back(values[i + 1] == 0 ? std::nan("") : values[i] / values[i + 1]);
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    const double* const own = values + report_begin(rank);
    RankReport report{.wait_s = own[0]};
    report.memory = {.allocated_bytes = static_cast<std::int64_t>(own[1]),
                     .reserved_bytes = static_cast<std::int64_t>(own[2]),
                     .peak_bytes = static_cast<std::int64_t>(own[3])};
    report.out_of_memory = static_cast<Phase>(std::lround(own[4]));
    result.ranks.push_back(report);
  }
  result.skipped = !result.dropped && !std::isfinite(result.gradient_norm);
  result.not_finite = !result.dropped && behind[dropped_slot] > 0;
  return result;
}

}  // namespace lockstep
