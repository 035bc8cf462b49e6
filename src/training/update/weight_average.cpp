// The moving average as one flat buffer.
#include "training/update/weight_average.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/empty.h>

#include <exception>
#include <utility>

namespace lockstep {

WeightAverage::WeightAverage(double decay, ParameterStorage& storage, ModelBuffers* buffers)
    : storage_(storage),
      buffers_(buffers),
      decay_(decay),
      flat_(at::empty({storage.own_elements()}, storage.master().options())),
      share_(at::empty({1}, storage.master().options())) {
  restart();
}

at::Tensor WeightAverage::of(const at::Tensor& flat, const Shard& shard) const {
  return storage_.range(flat, shard, shard.begin, shard.end);
}

void WeightAverage::restart() {
  const at::NoGradGuard no_grad;
  for (const Shard& shard : storage_.own()) of(flat_, shard).copy_(of(storage_.master(), shard));
  if (buffers_ != nullptr) buffer_flats_ = buffers_->copies();
}

void WeightAverage::prepare(const at::Tensor& updates, const at::Tensor& skip) {
  const at::NoGradGuard no_grad;
  const at::Tensor way = at::clamp(updates.add(10).reciprocal().mul(9), 1 - decay_);
  share_.copy_(way.mul(skip.neg().add(1)));
}

void WeightAverage::update() {
  const at::NoGradGuard no_grad;
  const at::Tensor share = share_[0];
  for (const Shard& shard : storage_.own())
    of(flat_, shard).lerp_(of(storage_.master(), shard), share);
  if (buffers_ != nullptr) buffers_->follow(buffer_flats_, share);
}

std::vector<NamedTensor> WeightAverage::buffers() const {
  if (buffers_ == nullptr) return {};
  return buffers_->named(buffer_flats_);
}

void WeightAverage::share_buffers(ProcessGroup& group, bool mean) {
  for (const at::Tensor& flat : buffer_flats_) share_buffer(flat, group, mean);
}

ShownAverage::ShownAverage(WeightAverage* average) {
  if (average == nullptr) return;
  weights_.emplace(average->storage_, average->flat_);
  if (average->buffers_ == nullptr) return;
  buffers_ = average->buffers_;
  try {
    buffers_->show(average->buffer_flats_);
  } catch (...) {
    show_own_buffers();
    throw;
  }
}

void ShownAverage::end() {
  if (buffers_ != nullptr) std::exchange(buffers_, nullptr)->show_own();
  if (weights_) weights_->end();
}

ShownAverage::~ShownAverage() { show_own_buffers(); }

void ShownAverage::show_own_buffers() noexcept {
  if (buffers_ == nullptr) return;
  try {
    buffers_->show_own();
  } catch (const std::exception&) {
    // The device has failed before, and the exception in progress reports that.
  }
}

}  // namespace lockstep
