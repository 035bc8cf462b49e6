#include "engine/gradient_sum.h"

namespace lockstep {

GradientSum::GradientSum(Arena& arena, Reducer& reducer, ProcessGroup& group, bool exact)
    : arena_(arena), reducer_(reducer), group_(group), is_exact_(exact) {}

void GradientSum::begin_step(std::int64_t accumulation, bool recorded, bool in_parts) {
  if (in_parts)
    arena_.begin_gradients_in_parts();
  else if (is_exact_)
    arena_.zero_gradients();
  else
    arena_.begin_gradients(/*may_prepare=*/!recorded);
  if (is_exact_ && !exact_) exact_.emplace(arena_, group_, accumulation);
}

void GradientSum::begin_backward(bool last) {
  if (last && !exact_) reducer_.arm();
}

void GradientSum::end_backward(bool last) {
  arena_.place_gradients();
  if (!exact_) return;
  exact_->push();
  if (!last) arena_.zero_gradients();
}

void GradientSum::skip_rest() {
  arena_.drop_gradients();
  if (exact_)
    exact_->skip_rest();
  else
    reducer_.skip_rest();
}

void GradientSum::finish(const Reducer::Summed& summed) {
  if (exact_) return exact_->finish();
  arena_.settle_gradients();
  reducer_.flush();
  arena_.place_gradients();  // what is sent beside is under way
  reducer_.wait(summed);
}

void GradientSum::reset() {
  reducer_.reset();
  if (exact_) exact_->reset();
}

}  // namespace lockstep
