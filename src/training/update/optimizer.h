// The update of the weights, with clipping and loss scaling decided on the device.
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

// One update of the master weights from the sums of the gradients (GradientBuffers::sums_of), which
// are those of the loss times the loss scale. Where ranks share the update
// (ParameterStorage::sharing), each updates its own shards, and all ranks step together. Weight
// decay and learning rate are properties of ranges of the flat buffers. A step whose gradient is
// not finite changes nothing but the loss scale; no call synchronises the device.
class Optimizer {
 public:
  // buffers: of the model, for the average of the weights; null where there are none. Throws Error
  // where optimizer.groups does not fit the model.
  Optimizer(const TrainOptions& options, GradientBuffers& gradients,
            ModelBuffers* buffers = nullptr);

  // f32 [1] on the device: what the loss is multiplied by before backward. 1 unless fp16.
  const at::Tensor& loss_scale() const { return loss_scale_.value(); }
  // Before `prepare`: a range of the sums, for the norm (GradientNorm::add).
  void find_norm_of(const at::Tensor& sums, bool now) { norm_of_sums_.add(sums, now); }
  // lr: f32 0-dim on the device. dropped: f64 [1] on the device; above 0 the step changes nothing
  // at all. In two parts, so that all that needs memory is done before anything changes: `prepare`
  // may be called again after it ran out of memory.
  void prepare(const at::Tensor& lr, const at::Tensor& dropped = {});
  void apply();
  // `apply` in two. First the scalars that later steps read at once (the count of updates, the loss
  // scale), then the weights, which read that count: with `update_weights`, or group by group in a
  // graph that begins with an update. The weights may follow at any time before they are used,
  // before their gradients are zero-filled and before the next `prepare`. Not where ranks share the
  // update or there is an average.
  void apply_numbers();
  void update_weights();
  // By update groups of the plan in use: first `begin_weights`, then each group once, in any order.
  void begin_weights();
  void update_group(std::size_t group);
  // For a group that is one sparse parameter: what an operation needs to compute rows as this
  // update will leave them. Valid on the device once begin_weights is done. Nothing where the
  // rule cannot.
  std::optional<DeferredRows> deferred_rows(std::size_t group) const;
  // Before a replay. begins: the graph begins with the update of the step before it, and leaves
  // that of its own step to the next one, or to `flush_update`. Other graphs need all weights up to
  // date.
  void before_replay(bool begins);
  // Makes the update that a graph left: all work enqueued from now on sees the weights of the last
  // step. It reads the gradients, so it comes before they are zero-filled for the next step.
  void flush_update();
  bool update_is_deferred() const { return update_is_deferred_; }

  // Makes what the device reads of a plan, for GradientBuffers::use. for_graph: its updates skip
  // what is clean (DirtyPieces), which needs nothing but decay: `find_dirty` comes before a replay
  // of a graph that was captured with it. Throws where memory runs out, and then changes nothing.
  std::shared_ptr<const StepPlan> prepare_plan(UpdatePlan plan, bool for_graph = false);
  void find_dirty();
  // Whether the rule reads sums in bf16.
  bool reads_low_sums() const { return rule_->reads_low_sums(); }
  // Whether a graph may begin with the update of the step before it.
  bool defers() const { return rule_->defers(); }
  // After a step that did not reach `apply`: the norm is found anew.
  void forget_prepared() { norm_of_sums_.forget(); }
  void step(const at::Tensor& lr, const at::Tensor& dropped = {});
  void step(double lr);
  // f32 [1]: norm of the last step's whole gradient, before clipping, unscaled; not finite if
  // skipped.
  const at::Tensor& gradient_norm() const { return norm_; }

  // Between `prepare` and `apply`, f32 [1]: 1 where the gradient is not finite and a smaller loss
  // scale would not help; else 0. It says nothing about a dropped step.
  at::Tensor not_finite() const { return loss_scale_.not_finite(skip_); }

  // After `prepare`, f32 [1]: 1 where the step changes nothing, else 0.
  const at::Tensor& skipped() const { return skip_; }

  OptimizerKind kind() const { return options_.optimizer.kind; }
  // Which parameters have rates of their own.
  const ParameterGroups& parameter_groups() const { return parameter_groups_; }

  // The average of the weights that `step` keeps; null unless ema.decay is set.
  WeightAverage* average() const { return average_.get(); }

  // State a checkpoint holds: that of planning/options/optimizers.h, the same as flat f32 buffers
  // by name, and f32 [1] scalars ("step", "loss_scale", "growth").
  const std::vector<StateBuffer>& states() const { return states_; }
  std::map<std::string, at::Tensor> flat_state() const;
  std::map<std::string, at::Tensor> scalar_state() const;
  // As at the start of a run: what was restored is that of another precision.
  void restart_loss_scale() { loss_scale_.restart(); }

 private:
  // Parameters with equal rates that are updated alike.
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
  std::vector<std::size_t> rates_of_;  // by parameter, in groups_
  std::vector<StateBuffer> states_;
  std::vector<OptimizerState> state_kinds_;  // of each
  at::Tensor step_, next_step_;              // updates that were not skipped
  // skip: 1 if the gradient is not finite or the step is dropped; divisor: loss scale / clipping.
  at::Tensor norm_, skip_, divisor_;
  LossScale loss_scale_;
  GradientNorm norm_of_sums_;
  UpdateScalars scalars_;  // of the tensors above
  std::unique_ptr<OptimizerRule> rule_;
  std::unique_ptr<WeightAverage> average_;
  bool update_is_deferred_ = false;           // the last replay left its update to do
  std::weak_ptr<const StepPlan> graph_plan_;  // the last one: others may share its tables
};

}  // namespace lockstep
