// How weights are updated: each rule is a class in a file of its own. CONTRIBUTING.md says how to
// add one.
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

// Ranges of the flat buffers that have one rate, one decay and one granularity. The vectors have an
// entry a range.
struct UpdateRanges {
  at::Tensor lr;  // f32 0-dim on the device
  double weight_decay = 0;
  std::vector<at::Tensor> weights;    // f32
  std::vector<at::Tensor> gradients;  // f32, or bf16 where the rule reads it (reads_low_sums)
  std::vector<at::Tensor> working;    // the low-precision copy; empty in fp32
  // f32; by state, those of optimizer_states (planning/options/optimizers.h) that these parameters
  // have, in that order; then by range.
  std::vector<std::vector<at::Tensor>> states;
  std::vector<at::Tensor> steps;     // UpdateNumbers::step, as ATen wants it
  std::vector<std::int64_t> begins;  // in the flat buffers
  // Granularity::matrix: each range is one parameter, and weights, gradients, working copy and
  // states are views in its shape, [rows, columns].
  bool matrices = false;
};

// The weights that are updated at one moment: all, or those of one block of the model.
using UpdateGroup = std::vector<UpdateRanges>;

// f32 [1] each, on the device, the same tensors during a run.
struct UpdateNumbers {
  at::Tensor step;     // updates that were not skipped, with this one
  at::Tensor divisor;  // gradients are to be divided by it: loss scale and clipping
  at::Tensor skip;     // 1: the update must change nothing
};

// The update of given groups, ready to be enqueued: all that the device reads for it is made.
// Graphs that were captured with it hold it. Enqueues on the current stream and never waits for the
// device. An update writes weights, states and the working copy, and may write the gradients. One
// thread.
class PreparedUpdate {
 public:
  virtual ~PreparedUpdate() = default;
  // Comes before the updates of a step's groups, once.
  virtual void begin() const {}
  virtual void update(std::size_t group) const = 0;
  // For a group that is one sparse parameter: enough to compute rows as the update will leave them.
  // Nothing where the rule cannot.
  virtual std::optional<DeferredRows> deferred_rows(std::size_t /*group*/) const {
    return std::nullopt;
  }
};

// How one kind of optimizer updates weights. One thread.
class OptimizerRule {
 public:
  virtual ~OptimizerRule() = default;
  // dirty: u8 [pieces], of a rule that skips_clean: updates skip what is clean by it
  // (DirtyPieces). Undefined: they skip nothing. Throws where memory runs out.
  virtual std::shared_ptr<const PreparedUpdate> prepare(std::vector<UpdateGroup> groups,
                                                        const at::Tensor& dirty) = 0;
  // Whether it can read gradients in bf16, the type in which ranks reduced them.
  virtual bool reads_low_sums() const { return false; }
  // Whether a graph may update block by block, while the next step's forward pass runs
  // (UpdatePlan::deferred). False: it is faster with all weights at once.
  virtual bool defers() const { return true; }
  // Whether it can skip pieces of weights that are clean.
  virtual bool skips_clean() const { return false; }
};

// The rule that options.optimizer.kind names, for weights on `device`. options outlive it.
std::unique_ptr<OptimizerRule> make_optimizer_rule(const TrainOptions& options,
                                                   const UpdateNumbers& numbers, at::Device device);
std::unique_ptr<OptimizerRule> make_adam_rule(const TrainOptions& options,
                                              const UpdateNumbers& numbers, at::Device device);
std::unique_ptr<OptimizerRule> make_sgd_rule(const TrainOptions& options,
                                             const UpdateNumbers& numbers);
std::unique_ptr<OptimizerRule> make_muon_rule(const TrainOptions& options,
                                              const UpdateNumbers& numbers, at::Device device);

}  // namespace lockstep
