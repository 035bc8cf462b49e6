// AdamW, Adam and SGD over the arena, with clipping and loss scaling decided on the device.
#pragma once

#include "engine/arena.h"
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

// One update of the master weights from the arena's gradients, which hold the gradient of the loss
// times the loss scale. Where ranks share the update (Arena::sharing), of the arena's own pieces,
// and all ranks step together. Weight decay and learning rate are properties of ranges of the
// arena. A step whose gradient is not finite changes nothing but the loss scale; no call
// synchronises the device.
class Optimizer {
 public:
  // buffers: of the model, for the average of the weights; null where there are none. Throws Error
  // where optimizer.groups does not fit the model.
  Optimizer(const TrainOptions& options, Arena& arena, ModelBuffers* buffers = nullptr);

  // f32 [1] on the device: what the loss is multiplied by before backward. 1 unless fp16.
  const at::Tensor& loss_scale() const { return loss_scale_; }
  // Before `prepare`, for parts f32 or bf16 that are all of the arena's gradients: their norm is
  // found part by part, of this one now, or by `prepare`. Not where ranks share the update.
  void find_norm_of(const at::Tensor& gradients, bool now);
  // lr: f32 0-dim on the device. dropped: f64 [1] on the device; above 0 the step changes nothing
  // at all. In two parts, so that all that needs memory is done before anything changes: `prepare`
  // may be called again after it ran out of memory.
  void prepare(const at::Tensor& lr, const at::Tensor& dropped = {});
  void apply();
  // `apply` in two: what later steps ask for at once (the count of updates, the loss scale), and
  // the weights, which may come at any time before they are used and before the next `prepare`. Not
  // where ranks share the update or there is an average.
  void apply_numbers();
  void update_weights();
  // The latter in parts, in any order: first begin_weights, then each of them. cut: of which part
  // each parameter is; parts count from 0.
  void cut(const std::vector<std::size_t>& part_of);
  std::size_t parts() const { return parts_.size(); }
  void begin_weights();
  void update_part(std::size_t part);
  // What rows are computed with that an update of this part, which is one table, will leave.
  // Nothing where our own kernel does not serve.
  std::optional<OwedRows> owed_rows(std::size_t part) const;
  // For what is recorded from here on, or not: parts of tables that no step used need nothing but
  // decay. Before a replay of it, `find_touched`, where anything else happened since the last one.
  void pass_over_untouched(bool on) { passes_over_ = on; }
  void find_touched();
  // The weights are those of the last step: until the next `prepare` an update changes nothing.
  void forget_weights() { skip_.fill_(1); }
  void forget_prepared();  // of a step that was not carried through
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

  // State a checkpoint holds: flat f32 buffers [own_elements] of the arena ("exp_avg", "exp_avg_sq"
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
  // Of the arena, with the rates of a group.
  struct Ranges {
    const Group* group = nullptr;
    std::vector<at::Tensor> weights, gradients, first, second, steps;
    std::vector<at::Tensor> working;   // low precision only
    std::vector<std::int64_t> begins;  // in the arena
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
  Arena& arena_;
  ParameterGroups parameter_groups_;
  std::vector<Group> groups_;
  std::vector<Part> parts_;
  std::vector<std::size_t> part_of_;      // by parameter
  bool reads_sums_ = false;               // Arena::leaves_sums, of these parts
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
  bool passes_over_ = false;                         // what is not touched
  bool norm_found_ = false;                          // between `prepare` and `apply`
  at::Tensor next_step_, next_scale_, next_growth_;  // after this step; the scale in fp16 only
  UpdateScalars scalars_;                            // of the tensors above
  std::unique_ptr<WeightAverage> average_;
};

}  // namespace lockstep
