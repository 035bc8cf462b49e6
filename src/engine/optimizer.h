// AdamW, Adam and SGD over flat buffers, with clipping and loss scaling decided on the device.
#pragma once

#include "engine/gradient_buffers.h"
#include "engine/parameter_groups.h"
#include "engine/weight_average.h"
#include "kernels/kernel_arguments.h"
#include "kernels/owed_update.h"
#include "kernels/step_scalars.h"
#include "plan/train_options.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// One update of the master weights from the sums of the gradients (GradientBuffers::sums_of), which
// are those of the loss times the loss scale. Where ranks share the update
// (ParameterStorage::sharing), each updates its own pieces, and all ranks step together. Weight
// decay and learning rate are properties of ranges of the flat buffers. A step whose gradient is
// not finite changes nothing but the loss scale; no call synchronises the device.
class Optimizer {
 public:
  // buffers: of the model, for the average of the weights; null where there are none. Throws Error
  // where optimizer.groups does not fit the model.
  Optimizer(const TrainOptions& options, GradientBuffers& gradients,
            ModelBuffers* buffers = nullptr);

  // f32 [1] on the device: what the loss is multiplied by before backward. 1 unless fp16.
  const at::Tensor& loss_scale() const { return loss_scale_; }
  // Before `prepare`, for ranges of the sums (f32 or bf16) that together are all of them, each
  // once. `prepare` makes the whole norm of their norms. now: this one's norm is enqueued here;
  // otherwise by `prepare`. Without any call `prepare` takes the norm of GradientBuffers::flat. Not
  // where ranks share the update.
  void find_norm_of(const at::Tensor& gradients, bool now);
  // lr: f32 0-dim on the device. dropped: f64 [1] on the device; above 0 the step changes nothing
  // at all. In two parts, so that all that needs memory is done before anything changes: `prepare`
  // may be called again after it ran out of memory.
  void prepare(const at::Tensor& lr, const at::Tensor& dropped = {});
  void apply();
  // `apply` in two. First the scalars that later steps read at once (the count of updates, the loss
  // scale), then the weights, which read that count. The weights may follow at any time before they
  // are used, before their gradients are zero-filled and before the next `prepare`. Not where ranks
  // share the update or there is an average.
  void apply_numbers();
  void update_weights();
  // The weights by update groups ("parts"): first `begin_weights`, then each group once, in any
  // order. cut: makes the groups; part_of: the group of each parameter, counted from 0. Graphs that
  // were captured with earlier groups stay valid.
  void cut(const std::vector<std::size_t>& part_of);
  std::size_t parts() const { return parts_.size(); }
  void begin_weights();
  void update_part(std::size_t part);
  // For a group that is one sparse parameter: what an operation needs to compute rows as this
  // update will leave them. Valid on the device once begin_weights is done. Nothing where our own
  // kernel does not serve.
  std::optional<OwedRows> owed_rows(std::size_t part) const;
  // on: updates that are enqueued from now on skip what is clean (GradientBuffers::touched), which
  // needs nothing but decay. Before a replay of a graph that was captured so, `find_touched` must
  // run if a step that was not a replay came since the last one.
  void pass_over_untouched(bool on) { passes_over_ = on; }
  void find_touched();
  // The weights are up to date: until the next `prepare` an update changes nothing.
  void forget_weights() { skip_.fill_(1); }
  void forget_prepared();  // after a step that did not reach `apply`: the norm is found anew
  void step(const at::Tensor& lr, const at::Tensor& dropped = {});
  void step(double lr);
  // f32 [1]: norm of the last step's whole gradient, before clipping, unscaled; not finite if
  // skipped.
  const at::Tensor& gradient_norm() const { return norm_; }

  // Between `prepare` and `apply`, f32 [1]: 1 where the gradient is not finite and a smaller loss
  // scale would not help; else 0. Of a dropped step it says nothing.
  at::Tensor not_finite() const;

  // After `prepare`, f32 [1]: 1 where the step changes nothing, else 0.
  const at::Tensor& skipped() const { return skip_; }

  // Which parameters have rates of their own.
  const ParameterGroups& parameter_groups() const { return parameter_groups_; }

  // The average of the weights that `step` keeps; null unless ema.decay is set.
  WeightAverage* average() const { return average_.get(); }

  // State a checkpoint holds: flat f32 buffers [own_elements] ("exp_avg", "exp_avg_sq"
  // or "momentum"), and f32 [1] scalars ("step", "loss_scale", "growth").
  std::map<std::string, at::Tensor> flat_state() const;
  std::map<std::string, at::Tensor> scalar_state() const;
  // As at the start of a run: what was restored is that of another precision.
  void restart_loss_scale();

 private:
  struct Group {
    ParameterRates rates;
    at::Tensor lr;
  };
  // Ranges of the flat buffers whose parameters have the rates of one group.
  struct Ranges {
    const Group* group = nullptr;
    std::vector<at::Tensor> weights, gradients, first, second, steps;
    std::vector<at::Tensor> working;   // low precision only
    std::vector<std::int64_t> begins;  // in the flat buffers
  };
  struct Part {
    std::vector<Ranges> ranges;                                     // by group
    std::int64_t first_range = 0, first_chunk = 0, last_chunk = 0;  // of our own kernel
  };
  std::size_t group_of(std::size_t parameter);
  void make_groups();
  void add_to(Ranges& ranges, std::int64_t begin, std::int64_t end, const at::Tensor& sums);
  void find_norm_of_gradients();
  void find_scalars(const at::Tensor& lr, const at::Tensor& dropped);
  bool own_kernel_serves() const;
  void make_tables(std::vector<Part>& parts);
  AdamArguments adam_arguments() const;
  void update(Ranges& ranges);
  void find_next_loss_scale(const at::Tensor& dropped);

  const TrainOptions& options_;
  ParameterStorage& storage_;
  GradientBuffers& gradients_;
  ParameterGroups parameter_groups_;
  std::vector<Group> groups_;
  std::vector<Part> parts_;
  std::vector<std::size_t> part_of_;      // by parameter
  bool reads_sums_ = false;               // GradientBuffers::leaves_sums when these parts were made
  at::Tensor ranges_, chunks_, factors_;  // of our own kernel (kernel_arguments.h)
  std::vector<at::Tensor> earlier_;       // such tables, which graphs may read
  std::int64_t chunk_ = 0;
  at::Tensor first_, second_;  // moments, flat
  at::Tensor step_;            // updates that were not skipped
  at::Tensor norm_, skip_,
      divisor_;  // skip: 1 if not finite; divisor: loss scale / clip coefficient
  at::Tensor loss_scale_, growth_;
  struct NormOfPart {
    at::Tensor gradients, norm;  // norm: 0-dim; undefined: still to be found
  };
  std::vector<NormOfPart> norms_of_parts_;
  bool passes_over_ = false;                         // updates skip what is clean
  bool norm_found_ = false;                          // between `prepare` and `apply`
  at::Tensor next_step_, next_scale_, next_growth_;  // after this step; the scale in fp16 only
  UpdateScalars scalars_;                            // of the tensors above
  std::unique_ptr<WeightAverage> average_;
};

}  // namespace lockstep
