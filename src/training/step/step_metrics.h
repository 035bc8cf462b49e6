// The step metrics that reach the host: one vector that is summed over the ranks, and its layout.
#pragma once

#include "backends/backend.h"
#include "runtime/launch/watch/heartbeat.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// The report that each rank makes about itself with each step. Every rank reads the reports of all
// ranks.
struct RankReport {
  double stop_signal = 0, stop_quota = 0;  // > 0: this rank wants to stop
  double save = 0;                         // > 0: this rank wants a checkpoint
  double wait_s = 0;                       // this rank's StepResult::wait_s of the previous step
  MemoryUse memory;
  // The phase of this step in which the rank ran out of memory: data, forward, backward, reduction.
  // none: it did not.
  Phase out_of_memory = Phase::none;
};

// The result of a step. All ranks know it when the step is done.
struct StepResult {
  std::int64_t step = 0;       // number of finished steps: 1 after the first
  std::vector<double> terms;   // mean of each loss term over the global batch
  double loss = 0;             // their sum
  std::vector<double> logged;  // values of Recipe::logged; NaN where nothing was logged
  double gradient_norm = 0;
  bool skipped = false;  // gradient not finite: weights unchanged
  // A rank was out of memory in this step or in an earlier one, or an earlier step was not finite.
  // Nothing changed, and no later step changes anything before `StepRunner::reset_after_drop`.
  bool dropped = false;
  // The loss or the gradient is not finite, and the loss scale is not the cause. Nothing changed,
  // and no later step changes anything before `StepRunner::reset_after_drop`.
  bool not_finite = false;
  double loss_scale = 1;
  double stop_signal = 0, stop_quota = 0, save = 0;  // summed over the ranks
  std::vector<RankReport> ranks;
  // This rank's time between the end of the backward pass and the end of the reduction. NaN if the
  // device cannot measure it.
  double wait_s = 0;
};

// The layout of the vector, f64. It holds the terms' means, the sum and weight of each logged
// value, the number of ranks that are out of memory, and the requests to stop and to save. For each
// rank it holds a report, which only that rank fills in. After the sum over the ranks, the values
// that every rank knows by itself are appended: norm, loss scale, whether the step was dropped,
// stamps.
class StepMetrics {
 public:
  StepMetrics(std::size_t terms, std::size_t logged, int rank, int ranks);

  // Returns f64 zeros with `options`. A step adds its sums to them.
  at::Tensor new_sums(const at::TensorOptions& options) const;
  at::Tensor terms(const at::Tensor& sums) const;   // the part of the terms [terms]
  at::Tensor logged(const at::Tensor& sums) const;  // the part of the logged values [logged, 2]

  // Returns this rank's report as a host tensor [size], with 0 in all other places. `backend`
  // allocates it, so that it uploads fast.
  at::Tensor report(const RankReport& report, Backend& backend) const;
  // Returns this rank's summand. All tensors are on the device. report: as above. sums: the tensor
  // of new_sums. dropped: f64 [1], above 0 if an earlier step was dropped. failed: the phase of
  // this step in which memory ran out.
  at::Tensor own(const at::Tensor& report, const at::Tensor& sums, const at::Tensor& dropped,
                 Phase failed) const;
  // Sets dropped, f64 [1], from the sum: above 0 if a rank dropped the step, or if a loss is not
  // finite.
  void find_dropped(const at::Tensor& sum, const at::Tensor& dropped) const;
  // whole: the result of host_metrics (ops/step_scalars/step_scalars.h) for the sum, on the host.
  // It holds all that the host reads of a step. Its `dropped` is above 0 if this step or an earlier
  // one changed nothing.
  StepResult read(std::int64_t step, const at::Tensor& whole) const;

 private:
  std::size_t report_begin(std::size_t rank) const;
  at::Tensor dropped(const at::Tensor& sum) const;  // number of ranks that dropped the step, [1]
  std::int64_t drop_place() const;

  std::size_t sums() const { return terms_ + 2 * logged_; }

  std::size_t terms_, logged_, rank_, ranks_;
};

}  // namespace lockstep
