// The rules by which weights are updated. Each rule is a class in a file of its own.
// CONTRIBUTING.md says how to add one.
#pragma once

#include "ops/gradient_buffer/deferred_sparse_update.h"
#include "planning/options/train_options.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace lockstep {

// Ranges of the flat buffers that have the same rate, decay and granularity. Each vector has one
// entry per range.
struct UpdateRanges {
  at::Tensor lr;  // f32 0-dim on the device
  double weight_decay = 0;
  std::vector<at::Tensor> weights;    // f32
  std::vector<at::Tensor> gradients;  // f32, or bf16 if the rule reads it (reads_low_sums)
  std::vector<at::Tensor> working;    // the low-precision copy; empty in fp32
  // f32, by state and then by range. The states are those of optimizer_states
  // (planning/options/optimizers.h) that these parameters have, in that order.
  std::vector<std::vector<at::Tensor>> states;
  std::vector<at::Tensor> steps;     // UpdateNumbers::step, in the form that ATen takes
  std::vector<std::int64_t> begins;  // where each range begins in the flat buffers
  // True for Granularity::matrix. Then each range is one parameter, and weights, gradients, working
  // copy and states are views in its shape, [rows, columns].
  bool matrices = false;
};

// The weights that are updated together: all, or those of one block of the model.
using UpdateGroup = std::vector<UpdateRanges>;

// Scalars of an update, f32 [1] each, on the device. The tensors stay the same during a run.
struct UpdateNumbers {
  at::Tensor step;     // count of updates that were not skipped, including this one
  at::Tensor divisor;  // divide gradients by it: loss scale and clipping
  at::Tensor skip;     // 1: the update must change nothing
};

// The update of given groups, ready to be enqueued: all tables that the device reads for it are
// made. Graphs that were captured with it hold it. It enqueues on the current stream and never
// waits for the device. An update writes weights, states and the working copy, and may write the
// gradients. One thread.
class PreparedUpdate {
 public:
  virtual ~PreparedUpdate() = default;
  // Called once per step, before the updates of its groups.
  virtual void begin() const {}
  virtual void update(std::size_t group) const = 0;
  // For a group that is one sparse parameter: returns the data from which an operation computes the
  // updated values of rows. Nothing if the rule does not support it.
  virtual std::optional<DeferredRows> deferred_rows(std::size_t /*group*/) const {
    return std::nullopt;
  }
};

// Updates weights as one kind of optimizer does. One thread.
class OptimizerRule {
 public:
  virtual ~OptimizerRule() = default;
  // dirty: u8 [pieces], for a rule with skips_clean. Updates skip the pieces that it marks as clean
  // (DirtyPieces). Undefined: they skip nothing. Throws if memory runs out.
  virtual std::shared_ptr<const PreparedUpdate> prepare(std::vector<UpdateGroup> groups,
                                                        const at::Tensor& dirty) = 0;
  // Whether the rule can read gradients in bf16, the type in which ranks reduced them.
  virtual bool reads_low_sums() const { return false; }
  // Whether a graph may defer the update and make it block by block, while the next step's forward
  // pass runs (UpdatePlan::deferred). False: the update is faster with all weights at once.
  virtual bool defers() const { return true; }
  // Whether the rule can skip clean pieces of weights.
  virtual bool skips_clean() const { return false; }
};

// Makes the rule that options.optimizer.kind names, for weights on `device`. `options` outlives it.
std::unique_ptr<OptimizerRule> make_optimizer_rule(const TrainOptions& options,
                                                   const UpdateNumbers& numbers, at::Device device);
std::unique_ptr<OptimizerRule> make_adam_rule(const TrainOptions& options,
                                              const UpdateNumbers& numbers, at::Device device);
std::unique_ptr<OptimizerRule> make_sgd_rule(const TrainOptions& options,
                                             const UpdateNumbers& numbers);
std::unique_ptr<OptimizerRule> make_muon_rule(const TrainOptions& options,
                                              const UpdateNumbers& numbers, at::Device device);

}  // namespace lockstep
