// The update of the weights. The device decides about clipping and loss scaling.
#pragma once

#include "ops/gradient_buffer/deferred_sparse_update.h"
#include "ops/step_scalars/step_scalars.h"
#include "planning/options/train_options.h"
#include "training/gradients/gradient_buffers.h"
#include "training/gradients/gradient_norm.h"
#include "training/parameters/parameter_groups.h"
#include "training/update/loss_scale.h"
#include "training/update/optimizer_rule.h"
#include "training/update/state_buffer.h"
#include "training/update/weight_average.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// Updates the master weights from the sums of the gradients (GradientBuffers::sums_of). These are
// gradients of the loss times the loss scale. If ranks share the update
// (ParameterStorage::sharing), each rank updates its own shards, and all ranks call the functions
// together. Each range of the flat buffers has its own weight decay and learning rate. A step whose
// gradient is not finite changes nothing but the loss scale. No call synchronises the device.
class Optimizer {
 public:
  // buffers: the model's buffers, for the average of the weights; null if there are none. Throws
  // Error if optimizer.groups does not fit the model.
  Optimizer(const TrainOptions& options, GradientBuffers& gradients,
            ModelBuffers* buffers = nullptr);

  // f32 [1] on the device: the factor on the loss before backward. 1 unless fp16.
  const at::Tensor& loss_scale() const { return loss_scale_.value(); }
  // Call it before `prepare`. Adds a range of the sums to the norm (GradientNorm::add).
  void find_norm_of(const at::Tensor& sums, bool now) { norm_of_sums_.add(sums, now); }
  // A step is `prepare`, then `apply`. All work that needs memory is in `prepare`, before anything
  // changes. So `prepare` may be called again after it ran out of memory. lr: f32 0-dim on the
  // device. dropped: f64 [1] on the device; if above 0, the step changes nothing at all.
  void prepare(const at::Tensor& lr, const at::Tensor& dropped = {});
  void apply();
  // `apply` in two parts. `apply_numbers` immediately updates the scalars that later steps read:
  // the count of updates and the loss scale. Then `update_weights` updates the weights, or a graph
  // that begins with an update does so group by group. This update reads the count. It must come
  // before the weights are used, before their gradients are zero-filled and before the next
  // `prepare`. Not allowed if ranks share the update or if there is an average.
  void apply_numbers();
  void update_weights();
  // Updates the weights by the groups of the plan in use. Call `begin_weights` first, then
  // `update_group` once for each group, in any order.
  void begin_weights();
  void update_group(std::size_t group);
  // For a group that is one sparse parameter: returns the data from which an operation computes the
  // updated values of rows. Valid on the device after begin_weights. Nothing if the rule does not
  // support it.
  std::optional<DeferredRows> deferred_rows(std::size_t group) const;
  // Call it before a replay. begins: whether the graph has a deferred update. Such a graph begins
  // with the update of the previous step, and leaves its own update to the next step or to
  // `flush_update`. Other graphs need up-to-date weights.
  void before_replay(bool begins);
  // Makes the deferred update, so that all work enqueued from now on sees the weights of the last
  // step. It reads the gradients, so call it before they are zero-filled for the next step.
  void flush_update();
  bool update_is_deferred() const { return update_is_deferred_; }

  // Makes the tables that the device reads for a plan, for GradientBuffers::use. for_graph: the
  // updates of the plan skip clean pieces (DirtyPieces), which need nothing but decay. Call
  // `find_dirty` before a replay of a graph that was captured with such a plan. Throws if memory
  // runs out, and then changes nothing.
  std::shared_ptr<const StepPlan> prepare_plan(UpdatePlan plan, bool for_graph = false);
  void find_dirty();
  // Whether the rule reads sums in bf16.
  bool reads_low_sums() const { return rule_->reads_low_sums(); }
  // Whether a graph may begin with the update of the previous step.
  bool defers() const { return rule_->defers(); }
  // Call it after a step that did not reach `apply`. The norm is then computed again.
  void forget_prepared() { norm_of_sums_.forget(); }
  void step(const at::Tensor& lr, const at::Tensor& dropped = {});
  void step(double lr);
  // f32 [1]: the norm of the last step's whole gradient, before clipping, without the loss scale.
  // Not finite if the step was skipped.
  const at::Tensor& gradient_norm() const { return norm_; }

  // Valid between `prepare` and `apply`. f32 [1]: 1 if the gradient is not finite and a smaller
  // loss scale would not help, else 0. It says nothing about a dropped step.
  at::Tensor not_finite() const { return loss_scale_.not_finite(skip_); }

  // Valid after `prepare`. f32 [1]: 1 if the step changes nothing, else 0.
  const at::Tensor& skipped() const { return skip_; }

  OptimizerKind kind() const { return options_.optimizer.kind; }
  // Says which parameters have rates of their own.
  const ParameterGroups& parameter_groups() const { return parameter_groups_; }

  // The average of the weights that `step` keeps; null unless ema.decay is set.
  WeightAverage* average() const { return average_.get(); }

  // The state for a checkpoint. states: those of planning/options/optimizers.h. flat_state: the
  // same as flat f32 buffers, by name. scalar_state: f32 [1] scalars ("step", "loss_scale",
  // "growth").
  const std::vector<StateBuffer>& states() const { return states_; }
  std::map<std::string, at::Tensor> flat_state() const;
  std::map<std::string, at::Tensor> scalar_state() const;
  // Sets the loss scale to its value at the start of a run. Meant for a restored scale that belongs
  // to another precision.
  void restart_loss_scale() { loss_scale_.restart(); }

 private:
  // Parameters with equal rates that are updated in the same way.
  struct Group {
    ParameterRates rates;
    bool matrices = false;
    at::Tensor lr;
  };
  void make_groups();
  bool is_matrix(std::size_t parameter) const;
  std::vector<UpdateGroup> ranges_of_groups(const UpdatePlan& plan) const;
  void add_to(UpdateRanges& ranges, std::int64_t begin, std::int64_t end,
              const at::Tensor& sums) const;
  template <class Function>
  void add_states(UpdateRanges& ranges, Granularity granularity, const Function& range) const;
  void add_matrix(UpdateRanges& ranges, std::size_t parameter, const at::Tensor& sums) const;

  const TrainOptions& options_;
  ParameterStorage& storage_;
  GradientBuffers& gradients_;
  ParameterGroups parameter_groups_;
  std::vector<Group> groups_;
  std::vector<std::size_t> rates_of_;  // by parameter: index in groups_
  std::vector<StateBuffer> states_;
  std::vector<OptimizerState> state_kinds_;  // the kind of each entry of states_
  at::Tensor step_, next_step_;              // the count of updates that were not skipped
  // skip: 1 if the gradient is not finite or the step is dropped; divisor: loss scale / clipping.
  at::Tensor norm_, skip_, divisor_;
  LossScale loss_scale_;
  GradientNorm norm_of_sums_;
  UpdateScalars scalars_;  // the tensors above, as find_update_scalars takes them
  std::unique_ptr<OptimizerRule> rule_;
  std::unique_ptr<WeightAverage> average_;
  bool update_is_deferred_ = false;           // the update of the last replay is still to be made
  std::weak_ptr<const StepPlan> graph_plan_;  // the last plan of a graph: later plans may share its
                                              // tables
};

}  // namespace lockstep
