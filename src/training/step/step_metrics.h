// Defines the step metrics: the numbers of a step that are summed over the ranks and copied to the
// host.
#pragma once

#include "backends/backend.h"
#include "runtime/launch/watch/heartbeat.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// The report of one rank about itself, which it sends with each step. Every rank gets the reports
// of all ranks.
struct RankReport {
  double stop_signal = 0, stop_quota = 0;  // > 0: a stop is requested
  double save = 0;                         // > 0: a checkpoint is requested
  double wait_s = 0;                       // this rank's StepResult::wait_s of the previous step
  MemoryUse memory;
  // The phase of this step in which the rank ran out of memory: data, forward, backward or
  // reduction. It is `none` if memory did not run out.
  Phase out_of_memory = Phase::none;
};

// The result of a step, the same on all ranks except for `wait_s`.
struct StepResult {
  std::int64_t step = 0;       // number of finished steps; 1 after the first step
  std::vector<double> terms;   // mean of each loss term over the global batch
  double loss = 0;             // sum of `terms`
  std::vector<double> logged;  // values of Recipe::logged; NaN for a value that was not logged
  double gradient_norm = 0;
  bool skipped = false;  // the gradient is not finite, so the weights did not change
  // A rank ran out of memory in this step or in an earlier one, or an earlier step had
  // `not_finite`. This step changed nothing. No later step changes anything before
  // StepRunner::reset_after_drop.
  bool dropped = false;
  // The loss or the gradient is not finite, and the loss scale is not the cause. This step changed
  // nothing. No later step changes anything before StepRunner::reset_after_drop.
  bool not_finite = false;
  double loss_scale = 1;
  double stop_signal = 0, stop_quota = 0, save = 0;  // summed over the ranks
  std::vector<RankReport> ranks;
  // This rank's seconds from the end of the backward pass to the end of the reduction. NaN if the
  // device cannot measure the time.
  double wait_s = 0;
};

// Knows the layout of the step metrics, an f64 vector. These values are summed over the ranks:
//   - the mean of each loss term, and the sum and weight of each logged value
//   - the number of ranks that dropped the step, and the requests to stop and to save
//   - a report for each rank; a rank adds its own report, and 0 for the other ranks
// Then values that are equal on all ranks are appended: the gradient norm, the loss scale and
// whether the step was dropped. Two time stamps of this rank come last.
class StepMetrics {
 public:
  StepMetrics(std::size_t terms, std::size_t logged, int rank, int ranks);

  // Returns zeros, f64, to which a step adds the terms and logged values of its micro-batches.
  at::Tensor new_sums(const at::TensorOptions& options) const;
  at::Tensor terms(const at::Tensor& sums) const;   // view of the terms, [terms]
  at::Tensor logged(const at::Tensor& sums) const;  // view of the logged values, [logged, 2]

  // Returns this rank's report as a vector of the step metrics on the host, with 0 in all other
  // places. `backend` allocates the vector in memory from which uploads are fast.
  at::Tensor report(const RankReport& report, Backend& backend) const;
  // Returns the vector that this rank adds to the sum over the ranks. All tensors are on the
  // device.
  //   report: the result of report(), uploaded
  //   sums: the tensor of new_sums()
  //   dropped: f64 [1], above 0 if an earlier step was dropped
  //   failed: the phase of this step in which memory ran out, or none
  at::Tensor own(const at::Tensor& report, const at::Tensor& sums, const at::Tensor& dropped,
                 Phase failed) const;
  // Sets `dropped`, f64 [1], to a value above 0 if a rank dropped the step or if a loss term is not
  // finite. sum: the vector, summed over the ranks.
  void find_dropped(const at::Tensor& sum, const at::Tensor& dropped) const;
  // Returns the step metrics as a StepResult. whole: the result of host_metrics
  // (ops/step_scalars/step_scalars.h), copied to the host.
  StepResult read(std::int64_t step, const at::Tensor& whole) const;

 private:
  std::size_t report_begin(std::size_t rank) const;
  // View [1]: the number of ranks that dropped the step.
  at::Tensor dropped(const at::Tensor& sum) const;
  std::int64_t drop_place() const;

  std::size_t sums() const { return terms_ + 2 * logged_; }

  std::size_t terms_, logged_, rank_, ranks_;
};

}  // namespace lockstep
