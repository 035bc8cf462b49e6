// An exponential moving average (EMA) of the weights, kept in fp32 in addition to them. It includes
// the model's floating-point buffers, because these belong to the weights that they were computed
// with.
#pragma once

#include "training/parameters/parameter_storage.h"
#include "training/update/model_buffers.h"
#include "training/update/shown_weights.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace lockstep {

// After update n the average moves towards the weights by the fraction max(1 - decay, 9 / (10 + n))
// of its distance to them. So it follows the first steps closely. All work is enqueued, and nothing
// synchronises the device.
class WeightAverage {
 public:
  // Begins with the present weights. buffers: null if there are none. All arguments outlive this
  // object.
  WeightAverage(double decay, ParameterStorage& storage, ModelBuffers* buffers = nullptr);

  const at::Tensor& flat() const { return flat_; }  // f32 [own_elements]
  void restart();                                   // begins again with the present weights
  // Call it before an update. updates: f32 [1], the count of updates including this one. skip: f32
  // [1]; 1 leaves the average unchanged.
  void prepare(const at::Tensor& updates, const at::Tensor& skip);
  void update();  // after an update; allocates only if there are buffers

  // The averages of the buffers, as views with the buffers' names.
  std::vector<NamedTensor> buffers() const;
  // All ranks call it. Shares the averages of buffers as share_buffer does.
  void share_buffers(ProcessGroup& group, bool mean);

 private:
  friend class ShownAverage;
  at::Tensor of(const at::Tensor& flat, const Shard& shard) const;

  ParameterStorage& storage_;
  ModelBuffers* buffers_;
  double decay_;
  std::vector<at::Tensor> buffer_flats_;
  at::Tensor flat_, share_;  // share_: f32 [1], the fraction of the distance to the weights
};

// While it exists, the model computes with the averages of its weights and buffers. If `average` is
// null, nothing happens. The rules about ranks and exceptions are those of ShownWeights.
class ShownAverage {
 public:
  explicit ShownAverage(WeightAverage* average);
  // Makes the model compute with its own weights and buffers again. All ranks call it, as
  // ShownWeights::end.
  void end();
  ~ShownAverage();
  ShownAverage(const ShownAverage&) = delete;
  ShownAverage& operator=(const ShownAverage&) = delete;

 private:
  void show_own_buffers() noexcept;

  std::optional<ShownWeights> weights_;
  ModelBuffers* buffers_ = nullptr;  // null: the model's own buffers are shown
};

}  // namespace lockstep
