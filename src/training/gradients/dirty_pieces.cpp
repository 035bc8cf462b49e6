#include "training/gradients/dirty_pieces.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

namespace lockstep {

void DirtyPieces::track() {
  if (!storage_.low_precision() || storage_.sharing() != nullptr) return;
  flags_ = at::ones({dirty_pieces_of(storage_.elements())},
                    storage_.master().options().dtype(at::kByte));
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i]->set_dirty({.flags = flags_, .begin = storage_.places()[i].begin});
}

void DirtyPieces::find(const std::vector<at::Tensor>& flats) {
  if (!flags_.defined() || is_known_) return;
  const at::NoGradGuard no_grad;
  flags_.fill_(1);
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (buffers_[i]->is_sparse()) find_of(i, flats);
  is_known_ = true;
}

// Finds the flags of the pieces that lie completely in the parameter.
void DirtyPieces::find_of(std::size_t parameter, const std::vector<at::Tensor>& flats) {
  const ParameterPlace& place = storage_.places()[parameter];
  const std::int64_t begin = dirty_pieces_of(place.begin);
  const std::int64_t end = (place.begin + place.elements) / dirty_piece;
  if (begin >= end) return;
  at::Tensor dirty = at::zeros({end - begin}, flags_.options());
  for (const at::Tensor& flat : flats) {
    const auto [least, most] = at::aminmax(
        flat.narrow(0, begin * dirty_piece, (end - begin) * dirty_piece).view({-1, dirty_piece}),
        1);
    dirty.bitwise_or_(least.ne(0).bitwise_or_(most.ne(0)));
  }
  flags_.narrow(0, begin, end - begin).copy_(dirty);
}

}  // namespace lockstep
