// What a rank holds of the arena where ranks share the update, and how the rest comes to it.
#include "engine/arena.h"
#include "engine/process_group.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <memory>

namespace lockstep {

void Arena::find_own_pieces() {
  if (sharing_ == nullptr) {
    own_ = {{.begin = 0, .end = layout_.elements, .at = 0}};
    return;
  }
  for (const Bucket& bucket : buckets_) {
    const std::int64_t size = (bucket.end - bucket.begin) / sharing_->size();
    const std::int64_t begin = bucket.begin + sharing_->rank() * size;
    own_.push_back({.begin = begin, .end = begin + size, .at = bucket.begin / sharing_->size()});
  }
}

at::Tensor Arena::range(const at::Tensor& flat, const Piece& piece, std::int64_t begin,
                        std::int64_t end) const {
  const bool whole = flat.numel() == layout_.elements;
  return flat.narrow(0, whole ? begin : piece.at + begin - piece.begin, end - begin);
}

void Arena::fill(const at::Tensor& flat, std::size_t i, const at::Tensor& values) const {
  if (flat.numel() == layout_.elements) {
    view(flat, i).copy_(values);
    return;
  }
  const std::int64_t first = layout_.offsets[i], last = first + sizes_[i];
  const at::Tensor row = at::empty({sizes_[i]}, values.options());  // in the order of the arena
  shaped(row, i).copy_(values);
  for (const Piece& piece : own_) {
    const std::int64_t begin = std::max(first, piece.begin), end = std::min(last, piece.end);
    if (begin < end)
      range(flat, piece, begin, end).copy_(row.narrow(0, begin - first, end - begin));
  }
}

void Arena::set_weights(std::size_t i, const at::Tensor& values) {
  const at::NoGradGuard no_grad;
  fill(master_, i, values);
  if (low_precision()) view(working_, i).copy_(values);
}

void Arena::refresh_working() {
  if (!low_precision()) return;
  const at::NoGradGuard no_grad;
  for (const Piece& piece : own_)
    working_.narrow(0, piece.begin, piece.size())
        .copy_(range(master_, piece, piece.begin, piece.end));
}

void Arena::gather(const at::Tensor& flat) {
  if (sharing_ == nullptr) return;
  std::vector<std::unique_ptr<Pending>> pending;
  for (const Bucket& bucket : buckets_)
    pending.push_back(
        sharing_->gather_pieces(flat.narrow(0, bucket.begin, bucket.end - bucket.begin)));
  for (const auto& bucket : pending) bucket->wait();
}

void Arena::gather_weights() {
  const at::NoGradGuard no_grad;
  gather(low_precision() ? working_ : master_);
}

void Arena::point_at(const at::Tensor& flat) {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    for (at::Tensor& handle : handles_[i]) handle.set_data(view(flat, i));
}

void Arena::show(const at::Tensor& flat) {
  const at::NoGradGuard no_grad;
  if (!low_precision() && sharing_ == nullptr) return point_at(flat);
  const at::Tensor shown = low_precision() ? working_ : at::empty_like(master_);
  for (const Piece& piece : own_)
    shown.narrow(0, piece.begin, piece.size()).copy_(range(flat, piece, piece.begin, piece.end));
  gather(shown);
  if (!low_precision()) point_at(shown);
}

void Arena::show_weights() {
  const at::NoGradGuard no_grad;
  if (!low_precision()) return point_at(master_);
  refresh_working();
  gather_weights();
}

}  // namespace lockstep
