// Updates the weights. Gradient clipping and the loss scale are computed on the device.
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

// Updates the master weights from the summed gradients (GradientBuffers::sums_of). These gradients
// were computed from the loss times the loss scale. If the optimizer is sharded
// (ParameterStorage::sharing), each rank updates its own shards, and all ranks call the functions
// together. Each range of the flat buffers has its own weight decay and learning rate. A step whose
// gradient is not finite changes nothing but the loss scale. No call synchronises the device.
class Optimizer {
 public:
  // buffers: the model's buffers, which the average of the weights includes; may be null. Throws
  // Error if optimizer.groups does not fit the model.
  Optimizer(const TrainOptions& options, GradientBuffers& gradients,
            ModelBuffers* buffers = nullptr);

  // The factor on the loss before backward, f32 [1] on the device. It is 1 unless the precision is
  // fp16.
  const at::Tensor& loss_scale() const { return loss_scale_.value(); }
  // Adds a range of the gradient sums to the norm (GradientNorm::add). Call it before `prepare`.
  void find_norm_of(const at::Tensor& sums, bool now) { norm_of_sums_.add(sums, now); }
  // A step calls `prepare`, then `apply`. `prepare` allocates all memory and changes no state, so
  // it may be called again after it ran out of memory.
  //   lr: f32 0-dim on the device
  //   dropped: f64 [1] on the device, may be undefined; if it is above 0, the step changes nothing
  void prepare(const at::Tensor& lr, const at::Tensor& dropped = {});
  void apply();
  // apply_numbers and update_weights are the two parts of `apply`. apply_numbers updates the
  // scalars that later steps read: the count of updates and the loss scale. update_weights updates
  // the weights. A graph with a deferred update calls begin_weights and update_group instead of
  // update_weights. The weights must be updated before they are used. The update reads the
  // gradients and the scalars of this step, so it must be enqueued before gradients are zero-filled
  // and before the next `prepare`. Neither apply_numbers nor update_weights is allowed if the
  // optimizer is sharded or if there is an average of the weights.
  void apply_numbers();
  void update_weights();
  // begin_weights and update_group update the weights group by group, by the current plan. Call
  // begin_weights first, then update_group once for each group, in any order.
  void begin_weights();
  void update_group(std::size_t group);
  // group: the group of one sparse parameter. Returns the data with which an operation can compute
  // the updated values of rows. The content of this data on the device is valid after
  // begin_weights. Returns nothing if the rule cannot provide this data.
  std::optional<DeferredRows> deferred_rows(std::size_t group) const;
  // Call it before a replay of a graph. begins: whether the graph has a deferred update. A graph
  // with a deferred update begins with the update of the previous step. The next step or
  // flush_update makes the graph's own update. For a graph without a deferred update, this function
  // calls flush_update.
  void before_replay(bool begins);
  // Makes the update that the last step deferred, if any. Work enqueued from now on sees the
  // weights after that update. The update reads the gradients, so call it before they are
  // zero-filled for the next step.
  void flush_update();
  bool update_is_deferred() const { return update_is_deferred_; }

  // Makes the tables that the device reads for a plan. Pass the result to GradientBuffers::use.
  // for_graph: if true, updates skip clean pieces (DirtyPieces) as far as the rule supports it.
  // Call find_dirty before each replay of a graph with such a plan. If memory runs out, throws an
  // exception and changes nothing.
  std::shared_ptr<const StepPlan> prepare_plan(UpdatePlan plan, bool for_graph = false);
  void find_dirty();
  // Whether the rule can read the sums of gradients in bf16.
  bool reads_low_sums() const { return rule_->reads_low_sums(); }
  // Whether the rule supports deferred updates (OptimizerRule::defers).
  bool defers() const { return rule_->defers(); }
  // Forgets the norm and its ranges, so that the next `prepare` computes the norm again. Call it
  // after a step that did not reach `apply`.
  void forget_prepared() { norm_of_sums_.forget(); }
  void step(const at::Tensor& lr, const at::Tensor& dropped = {});
  void step(double lr);
  // The norm of the last step's whole gradient, f32 [1], before clipping and without the loss
  // scale. It is not finite if the gradient was not finite.
  const at::Tensor& gradient_norm() const { return norm_; }

  // f32 [1]: 1 if the gradient is not finite and a smaller loss scale would not help, else 0. It is
  // valid between `prepare` and `apply`. If the step is dropped, the value has no meaning.
  at::Tensor not_finite() const { return loss_scale_.not_finite(skip_); }

  // f32 [1]: 1 if the step changes no weights, else 0. It is valid after `prepare`.
  const at::Tensor& skipped() const { return skip_; }

  OptimizerKind kind() const { return options_.optimizer.kind; }
  // The learning rates and weight decay of each parameter.
  const ParameterGroups& parameter_groups() const { return parameter_groups_; }

  // The average of the weights, which each update moves; null unless ema.decay is set.
  WeightAverage* average() const { return average_.get(); }

  // The state for a checkpoint. `states` has the states that optimizer_states lists
  // (planning/options/optimizers.h). flat_state gives their flat f32 buffers by name. scalar_state
  // gives scalars by name ("step", "loss_scale", "growth"), as tensors [1].
  const std::vector<StateBuffer>& states() const { return states_; }
  std::map<std::string, at::Tensor> flat_state() const;
  std::map<std::string, at::Tensor> scalar_state() const;
  // Sets the loss scale to its value at the start of a run. Call it if the restored scale belongs
  // to another precision.
  void restart_loss_scale() { loss_scale_.restart(); }

 private:
  // Parameters that have equal rates and are updated in the same way.
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
  std::vector<std::size_t> rates_of_;  // for each parameter: its index in groups_
  std::vector<StateBuffer> states_;
  std::vector<OptimizerState> state_kinds_;  // the kind of each entry of states_
  at::Tensor step_, next_step_;              // the number of updates that were not skipped
  // `skip_` is 1 if the gradient is not finite or the step is dropped. Gradients are divided by
  // `divisor_`, which undoes the loss scale and clips.
  at::Tensor norm_, skip_, divisor_;
  LossScale loss_scale_;
  GradientNorm norm_of_sums_;
  UpdateScalars scalars_;  // the tensors above, in the form that find_update_scalars takes
  std::unique_ptr<OptimizerRule> rule_;
  std::unique_ptr<WeightAverage> average_;
  bool update_is_deferred_ = false;  // the update of the last replay has not been made yet
  // The last plan of a graph; later plans may share its tables.
  std::weak_ptr<const StepPlan> graph_plan_;
};

}  // namespace lockstep
