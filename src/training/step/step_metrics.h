// The step metrics that reach the host: one vector, summed over the ranks, and its meaning.
#pragma once

#include "backends/backend.h"
#include "runtime/launch/watch/heartbeat.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// The report of one rank about itself with each step; every rank reads all ranks' reports.
struct RankReport {
  double stop_signal = 0, stop_quota = 0;  // > 0: this rank wants to stop
  double save = 0;                         // > 0: it wants a checkpoint
  double wait_s = 0;                       // of the step before
  MemoryUse memory;
  // Where in this step the rank ran out of memory: data, forward, backward, reduction; none:
  // nowhere.
  Phase out_of_memory = Phase::none;
};

// The result of a step, which all ranks know once it is done.
struct StepResult {
  std::int64_t step = 0;       // finished steps: the first gives 1
  std::vector<double> terms;   // mean of each loss term over the global batch
  double loss = 0;             // their sum
  std::vector<double> logged;  // of Recipe::logged; NaN where nothing was logged
  double gradient_norm = 0;
  bool skipped = false;  // gradient not finite: weights unchanged
  // A rank was out of memory, in this step or in one before it, or one before it was not finite:
  // nothing changed, and no later step changes anything before `StepRunner::reset_after_drop`.
  bool dropped = false;
  // The loss or the gradient is not, and it is no matter of the loss scale: nothing changed, and no
  // later step changes anything before `StepRunner::reset_after_drop`.
  bool not_finite = false;
  double loss_scale = 1;
  double stop_signal = 0, stop_quota = 0, save = 0;  // summed over the ranks
  std::vector<RankReport> ranks;
  // This rank's time between the end of the backward pass and that of the reduction; NaN where the
  // device cannot tell.
  double wait_s = 0;
};

// The layout of the vector, f64: the terms' means, sum and weight of each logged number, how many
// ranks are out of memory, the requests to stop and to save, and for each rank a report that only
// that rank fills. Once it is summed, what every rank knows alone is put behind: norm, loss scale,
// whether the step was dropped, stamps.
class StepMetrics {
 public:
  StepMetrics(std::size_t terms, std::size_t logged, int rank, int ranks);

  // f64, zeros, like `options`: what a step adds its sums to.
  at::Tensor new_sums(const at::TensorOptions& options) const;
  at::Tensor terms(const at::Tensor& sums) const;   // the part of the terms [terms]
  at::Tensor logged(const at::Tensor& sums) const;  // that of the logged numbers [logged, 2]

  // This rank's report as a host tensor [size], 0 elsewhere; of `backend`, so that it uploads fast.
  at::Tensor report(const RankReport& report, Backend& backend) const;
  // This rank's summand. On the device: `report` as above; `sums` of new_sums; dropped f64 [1],
  // above 0 if a step before was; failed: where memory ran out in this one.
  at::Tensor own(const at::Tensor& report, const at::Tensor& sums, const at::Tensor& dropped,
                 Phase failed) const;
  // dropped f64 [1] becomes what the sum says: above 0 where a rank dropped the step, or where a
  // loss is not finite.
  void find_dropped(const at::Tensor& sum, const at::Tensor& dropped) const;
  // whole: on the host, what host_metrics (ops/step_scalars/step_scalars.h) makes of the sum: all
  // that the host reads of a step. `dropped` is above 0 there if this step or one before changed
  // nothing.
  StepResult read(std::int64_t step, const at::Tensor& whole) const;

 private:
  std::size_t report_begin(std::size_t rank) const;
  at::Tensor dropped(const at::Tensor& sum) const;  // how many ranks dropped the step [1]
  std::int64_t drop_place() const;

  std::size_t sums() const { return terms_ + 2 * logged_; }

  std::size_t terms_, logged_, rank_, ranks_;
};

}  // namespace lockstep
