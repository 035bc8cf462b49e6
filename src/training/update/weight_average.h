// An exponential moving average of the weights (EMA), kept beside them in fp32, and of the model's
// floating-point buffers, which belong to the weights that they were made with.
#pragma once

#include "training/parameters/parameter_storage.h"
#include "training/update/model_buffers.h"
#include "training/update/shown_weights.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace lockstep {

// After update n the average moves towards the weights by max(1 - decay, 9 / (10 + n)) of the way,
// so that it follows the first steps closely. All work is enqueued; nothing synchronises the
// device.
class WeightAverage {
 public:
  // Begins at the present weights. buffers: null where there are none. All outlive it.
  WeightAverage(double decay, ParameterStorage& storage, ModelBuffers* buffers = nullptr);

  const at::Tensor& flat() const { return flat_; }  // f32 [own_elements]
  void restart();                                   // at the present weights
  // Before an update. updates: f32 [1], how many there were, with this one. skip: f32 [1], 1 leaves
  // the average alone.
  void prepare(const at::Tensor& updates, const at::Tensor& skip);
  void update();  // after it; allocates nothing but where there are buffers

  // The averages of the buffers, as views by their names.
  std::vector<NamedTensor> buffers() const;
  // All ranks: rank 0's averages of buffers.
  void share_buffers(ProcessGroup& group, bool mean);

 private:
  friend class ShownAverage;
  at::Tensor of(const at::Tensor& flat, const Shard& shard) const;

  ParameterStorage& storage_;
  ModelBuffers* buffers_;
  double decay_;
  std::vector<at::Tensor> buffer_flats_;
  at::Tensor flat_, share_;  // share: f32 [1], of the way to the weights
};

// While it lives the model computes with the average, also of buffers; with null nothing happens.
// All ranks and exceptions: as ShownWeights.
class ShownAverage {
 public:
  explicit ShownAverage(WeightAverage* average);
  void end();  // the model's own again: as ShownWeights::end, by all ranks
  ~ShownAverage();
  ShownAverage(const ShownAverage&) = delete;
  ShownAverage& operator=(const ShownAverage&) = delete;

 private:
  void show_own_buffers() noexcept;

  std::optional<ShownWeights> weights_;
  ModelBuffers* buffers_ = nullptr;  // null: they are the model's own
};

}  // namespace lockstep
