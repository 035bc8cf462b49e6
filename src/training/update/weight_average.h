// Keeps an exponential moving average (EMA) of the weights in fp32. The average also covers the
// model's floating-point buffers, because buffers such as batch-norm statistics depend on the
// weights.
#pragma once

#include "training/parameters/parameter_storage.h"
#include "training/update/model_buffers.h"
#include "training/update/shown_weights.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace lockstep {

// After update n, the average moves towards the weights by the fraction max(1 - decay, 9 / (10 +
// n)) of the difference. So the average follows the weights closely in the first steps. All work is
// enqueued, and nothing synchronises the device.
class WeightAverage {
 public:
  // The average begins as a copy of the present weights. buffers: the model's buffers; may be null.
  // All arguments must outlive this object.
  WeightAverage(double decay, ParameterStorage& storage, ModelBuffers* buffers = nullptr);

  const at::Tensor& flat() const { return flat_; }  // f32 [own_elements]
  void restart();                                   // sets the average to the present weights
  // Call it before an update.
  //   updates: f32 [1], the number of updates including this one
  //   skip: f32 [1]; if it is 1, the average does not change
  void prepare(const at::Tensor& updates, const at::Tensor& skip);
  void update();  // moves the average; call it after an update; allocates only if there are buffers

  // Returns views of the averages of the buffers, with the buffers' names.
  std::vector<NamedTensor> buffers() const;
  // Makes the averages of the buffers equal on all ranks, as share_buffer does. All ranks call it.
  void share_buffers(ProcessGroup& group, bool mean);

 private:
  friend class ShownAverage;
  at::Tensor of(const at::Tensor& flat, const Shard& shard) const;

  ParameterStorage& storage_;
  ModelBuffers* buffers_;
  double decay_;
  std::vector<at::Tensor> buffer_flats_;
  at::Tensor flat_, share_;  // share_: f32 [1], the fraction for the next update
};

// While an object exists, the model computes with the averages of its weights and buffers. Does
// nothing if `average` is null. See ShownWeights for the rules about ranks and exceptions.
class ShownAverage {
 public:
  explicit ShownAverage(WeightAverage* average);
  // Makes the model compute with its own weights and buffers again. Ranks call it together if
  // ShownWeights::end requires it.
  void end();
  ~ShownAverage();
  ShownAverage(const ShownAverage&) = delete;
  ShownAverage& operator=(const ShownAverage&) = delete;

 private:
  void show_own_buffers() noexcept;

  std::optional<ShownWeights> weights_;
  ModelBuffers* buffers_ = nullptr;  // null if the model computes with its own buffers
};

}  // namespace lockstep
