#include "training/gradients/gradient_sum.h"

namespace lockstep {

GradientSum::GradientSum(GradientBuffers& gradients, Reducer& reducer, ProcessGroup& group,
                         bool exact)
    : gradients_(gradients), reducer_(reducer), group_(group), is_exact_(exact) {}

void GradientSum::begin_step(std::int64_t accumulation, bool recorded, bool in_parts) {
  if (in_parts)
    gradients_.begin_step_in_parts();
  else if (is_exact_)
    gradients_.begin_zeroed_step();
  else
    gradients_.begin_step(/*may_prepare=*/!recorded);
  if (is_exact_ && !exact_) exact_.emplace(gradients_, group_, accumulation);
}

void GradientSum::begin_backward(bool last) {
  if (last && !exact_) reducer_.arm();
}

void GradientSum::end_backward(bool last) {
  gradients_.place();
  if (!exact_) return;
  exact_->push();
  if (!last) gradients_.zero();
}

void GradientSum::skip_rest() {
  gradients_.drop();
  if (exact_)
    exact_->skip_rest();
  else
    reducer_.skip_rest();
}

void GradientSum::finish(const Reducer::Summed& summed) {
  if (exact_) {
    exact_->finish();
  } else {
    gradients_.settle();
    reducer_.flush();
    gradients_.place();  // what is sent beside is under way
    reducer_.wait(summed);
  }
  gradients_.set_reduced();
}

void GradientSum::reset() {
  gradients_.abandon();
  reducer_.reset();
  if (exact_) exact_->reset();
}

}  // namespace lockstep
