// Declares the interface of update rules, such as Adam. Each rule is a class in its own source
// file. CONTRIBUTING.md says how to add a rule.
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

// Ranges of the flat buffers with the same learning rate, weight decay and granularity. Each vector
// has one entry per range, except `states`.
struct UpdateRanges {
  at::Tensor lr;  // f32 0-dim on the device
  double weight_decay = 0;
  std::vector<at::Tensor> weights;    // f32
  std::vector<at::Tensor> gradients;  // f32, or bf16 if reads_low_sums() of the rule is true
  std::vector<at::Tensor> working;    // the bf16 or fp16 copy of the weights; empty in fp32
  // states[s][r] is state s of range r, f32. They are the states that these parameters have, in the
  // order of optimizer_states (planning/options/optimizers.h).
  std::vector<std::vector<at::Tensor>> states;
  // UpdateNumbers::step for each range, because ATen's optimizers take a list.
  std::vector<at::Tensor> steps;
  std::vector<std::int64_t> begins;  // the first element of each range in the flat buffers
  // True for Granularity::matrix. Then each range is one parameter. Its weights, gradients, working
  // copy and states are views in its shape, [rows, columns].
  bool matrices = false;
};

// The weights of one update group (UpdatePlan::groups): all weights, the weights of one block of
// the model, or one sparse parameter.
using UpdateGroup = std::vector<UpdateRanges>;

// Scalars of an update, each f32 [1] on the device. The same tensors are used during a whole run.
struct UpdateNumbers {
  at::Tensor step;     // number of updates that were not skipped, including this one
  at::Tensor divisor;  // gradients are divided by it, to undo the loss scale and to clip
  at::Tensor skip;     // if 1, the update must change nothing
};

// A prepared update of given groups. It owns all tables that the device reads for the update. A
// graph that was captured with a prepared update keeps it alive. Updates are enqueued on the
// current stream, and never wait for the device. An update writes weights, states and the working
// copy, and may overwrite the gradients. All calls must come from one thread.
class PreparedUpdate {
 public:
  virtual ~PreparedUpdate() = default;
  // Called once per step, before the calls of `update`.
  virtual void begin() const {}
  virtual void update(std::size_t group) const = 0;
  // group: the group of one sparse parameter. Returns the data with which an operation can compute
  // the updated values of rows. Returns nothing if the rule cannot provide this data.
  virtual std::optional<DeferredRows> deferred_rows(std::size_t /*group*/) const {
    return std::nullopt;
  }
};

// The update rule of one kind of optimizer. All calls must come from one thread.
class OptimizerRule {
 public:
  virtual ~OptimizerRule() = default;
  // Prepares the update of these groups. dirty: u8 [pieces], see DirtyPieces::flags. If `dirty` is
  // defined and skips_clean() is true, updates skip clean pieces. Throws an exception if memory
  // runs out.
  virtual std::shared_ptr<const PreparedUpdate> prepare(std::vector<UpdateGroup> groups,
                                                        const at::Tensor& dirty) = 0;
  // Whether the rule can read gradients in bf16, if ranks reduced them in bf16.
  virtual bool reads_low_sums() const { return false; }
  // Whether a graph may defer the update and make it block by block during the next step's forward
  // pass (UpdatePlan::deferred). False if the rule is faster when it updates all weights at once.
  virtual bool defers() const { return true; }
  // Whether the rule can skip clean pieces of weights.
  virtual bool skips_clean() const { return false; }
};

// Makes the rule for options.optimizer.kind. device: where the weights are. `options` must outlive
// the rule.
std::unique_ptr<OptimizerRule> make_optimizer_rule(const TrainOptions& options,
                                                   const UpdateNumbers& numbers, at::Device device);
std::unique_ptr<OptimizerRule> make_adam_rule(const TrainOptions& options,
                                              const UpdateNumbers& numbers, at::Device device);
std::unique_ptr<OptimizerRule> make_sgd_rule(const TrainOptions& options,
                                             const UpdateNumbers& numbers);
std::unique_ptr<OptimizerRule> make_muon_rule(const TrainOptions& options,
                                              const UpdateNumbers& numbers, at::Device device);

}  // namespace lockstep
