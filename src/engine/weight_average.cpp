// The moving average as one flat buffer.
#include "engine/weight_average.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/empty.h>

#include <exception>

namespace lockstep {

WeightAverage::WeightAverage(double decay, Arena& arena)
    : arena_(arena),
      decay_(decay),
      flat_(at::empty({arena.own_elements()}, arena.master().options())),
      share_(at::empty({1}, arena.master().options())) {
  restart();
}

at::Tensor WeightAverage::of(const at::Tensor& flat, const Piece& piece) const {
  return arena_.range(flat, piece, piece.begin, piece.end);
}

void WeightAverage::restart() {
  const at::NoGradGuard no_grad;
  for (const Piece& piece : arena_.own()) of(flat_, piece).copy_(of(arena_.master(), piece));
}

void WeightAverage::prepare(const at::Tensor& updates, const at::Tensor& skip) {
  const at::NoGradGuard no_grad;
  const at::Tensor way = at::clamp(updates.add(10).reciprocal().mul(9), 1 - decay_);
  share_.copy_(way.mul(skip.neg().add(1)));
}

void WeightAverage::update() {
  const at::NoGradGuard no_grad;
  const at::Tensor share = share_[0];
  for (const Piece& piece : arena_.own()) of(flat_, piece).lerp_(of(arena_.master(), piece), share);
}

ShownAverage::ShownAverage(WeightAverage* average)
    : average_(average), exceptions_(std::uncaught_exceptions()) {
  if (average_ != nullptr) average_->arena().show(average_->flat());
}

ShownAverage::~ShownAverage() noexcept(false) {
  if (average_ == nullptr || std::uncaught_exceptions() > exceptions_) return;
  average_->arena().show_weights();
}

}  // namespace lockstep
