// The gradients of a step, until they are summed over the ranks.
#include "engine/gradient_buffers.h"

#include "base/error.h"
#include "base/text.h"
#include "kernels/copy_all.h"
#include "kernels/gradient_registry.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace lockstep {
namespace {

// Gradients that wait to be placed: more would be memory that the step could use.
constexpr std::int64_t most_taken_bytes = 32 << 20;

// Pieces have touched_piece elements, the last one perhaps fewer.
std::int64_t pieces_of(std::int64_t elements) {
  return (elements + touched_piece - 1) / touched_piece;
}

}  // namespace

GradientBuffers::GradientBuffers(ParameterStorage& storage) : storage_(storage) {
  const at::NoGradGuard no_grad;
  flat_ = at::zeros({storage.layout().elements}, storage.master().options());
  for (std::size_t i = 0; i < storage.parameters().size(); ++i) {
    const at::Tensor gradient = storage.view(flat_, i);
    buffers_.push_back(std::make_shared<GradientBuffer>(storage.parameters()[i].name, gradient,
                                                        !storage.low_precision()));
    for (const at::Tensor& handle : storage.handles(i)) {
      if (!handle.requires_grad()) continue;
      if (!storage.low_precision()) handle.mutable_grad() = gradient;
      set_gradient_buffer(handle, buffers_[i]);
    }
  }
}

GradientBuffers::~GradientBuffers() {
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    for (const at::Tensor& handle : storage_.handles(i)) forget_gradient_buffer(handle);
}

void GradientBuffers::zero() {
  const at::NoGradGuard no_grad;
  forget_taken();
  flat_.zero_();
  for (const auto& buffer : buffers_) buffer->restart();
}

void GradientBuffers::sum_in_bf16() {
  const at::NoGradGuard no_grad;
  sums_ = at::zeros({storage_.layout().elements}, flat_.options().dtype(at::kBFloat16));
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i]->set_reduce_buffer(storage_.view(sums_, i));
}

// The places of the wanted parameters, neighbours together.
template <class Wanted>
GradientBuffers::Ranges GradientBuffers::ranges_of(std::vector<std::size_t> parameters,
                                                   const Wanted& wanted) const {
  std::sort(parameters.begin(), parameters.end(), [&](std::size_t a, std::size_t b) {
    return storage_.layout().offsets[a] < storage_.layout().offsets[b];
  });
  Ranges ranges;
  for (const std::size_t i : parameters) {
    if (!wanted(i)) continue;
    const std::int64_t begin = storage_.layout().offsets[i], end = storage_.end_of(i);
    if (!ranges.empty() && ranges.back().second == begin)
      ranges.back().second = end;
    else
      ranges.emplace_back(begin, end);
  }
  return ranges;
}

void GradientBuffers::fill_sums(const std::vector<std::size_t>& parameters) {
  Copies copies;
  for (const auto& [begin, end] :
       ranges_of(parameters, [this](std::size_t i) { return !buffers_[i]->is_rounded(); }))
    copies.emplace_back(sums_.narrow(0, begin, end - begin), flat_.narrow(0, begin, end - begin));
  copy_all(copies);
}

void GradientBuffers::bring_sums(const std::vector<std::size_t>& parameters) {
  Ranges ranges =
      ranges_of(parameters, [this](std::size_t i) { return !sums_of(i).is_same(sums_); });
  if (storage_.sharing() != nullptr &&
      !ranges.empty()) {  // then of all: what this rank has the sums of
    ranges.clear();
    for (const Piece& piece : storage_.own()) ranges.emplace_back(piece.begin, piece.end);
  }
  Copies copies;
  for (const auto& [begin, end] : ranges)
    copies.emplace_back(flat_.narrow(0, begin, end - begin), sums_.narrow(0, begin, end - begin));
  copy_all(copies);
}

void GradientBuffers::choose_sums() {
  if (!sums_.defined() || !may_leave_sums_ || leaves_sums()) return;
  for (std::size_t i = 0; i < storage_.parameters().size(); ++i)
    leaves_sum_.push_back(storage_.sharing() != nullptr || !buffers_[i]->is_sparse() ||
                          storage_.sizes()[i] * 4 < smallest_bucket_bytes);
}

// A step shows which places can be overwritten.
void GradientBuffers::choose_written() {
  std::vector<bool> written;
  for (std::size_t i = 0; i < storage_.parameters().size(); ++i)
    written.push_back(storage_.handles(i).size() == 1 && !buffers_[i]->needs_zeros());
  if (!zeroed_.empty() && written == written_) return;
  written_ = std::move(written);
  zeroed_.push_back(zeros_of([&](std::size_t i) { return !written_[i]; }));
}

// Those of the parameters that are wanted.
template <class Wanted>
std::unique_ptr<ZeroRanges> GradientBuffers::zeros_of(const Wanted& wanted) const {
  std::vector<std::size_t> all(storage_.parameters().size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<ZeroRange> ranges;
  for (const auto& [begin, end] : ranges_of(std::move(all), wanted)) ranges.push_back({begin, end});
  return std::make_unique<ZeroRanges>(std::move(ranges), flat_.device());
}

void GradientBuffers::cut_zeros(const std::vector<std::size_t>& part_of, bool all) {
  if (storage_.low_precision() && !written_.empty()) choose_written();
  zeroes_all_ = all || !storage_.low_precision() || zeroed_.empty();
  std::move(zeroed_parts_.begin(), zeroed_parts_.end(), std::back_inserter(earlier_parts_));
  zeroed_parts_.clear();
  const std::size_t parts = *std::max_element(part_of.begin(), part_of.end()) + 1;
  for (std::size_t part = 0; part < parts; ++part)
    zeroed_parts_.push_back(zeros_of(
        [&](std::size_t i) { return part_of[i] == part && (zeroes_all_ || !written_[i]); }));
}

void GradientBuffers::begin_step_in_parts() {
  forget_taken();
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i]->begin_step(/*zero_filled=*/zeroes_all_ || !written_[i]);
}

void GradientBuffers::zero_part(std::size_t part) {
  const at::NoGradGuard no_grad;
  zeroed_parts_[part]->zero(flat_, touched_);
}

void GradientBuffers::begin_step(bool may_prepare) {
  const at::NoGradGuard no_grad;
  const bool first_step = written_.empty();
  if (!storage_.low_precision() || (first_step && !may_prepare)) return begin_zeroed_step();
  if (first_step)
    written_.assign(storage_.parameters().size(), false);
  else if (may_prepare)
    choose_written();
  if (zeroed_.empty()) return begin_zeroed_step();
  forget_taken();
  zeroed_.back()->zero(flat_);
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i]->begin_step(/*zero_filled=*/!written_[i]);
}

void GradientBuffers::begin_zeroed_step() {
  const at::NoGradGuard no_grad;
  forget_taken();
  flat_.zero_();
  for (const auto& buffer : buffers_) buffer->begin_step(/*zero_filled=*/true);
}

void GradientBuffers::watch_tables() {
  if (!storage_.low_precision() || storage_.sharing() != nullptr) return;
  touched_ = at::ones({pieces_of(storage_.layout().elements)}, flat_.options().dtype(at::kByte));
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i]->set_dirty({.flags = touched_, .begin = storage_.layout().offsets[i]});
}

void GradientBuffers::find_touched(const std::vector<at::Tensor>& flats) {
  if (!touched_.defined()) return;
  const at::NoGradGuard no_grad;
  touched_.fill_(1);
  std::vector<at::Tensor> all = flats;
  all.push_back(flat_);
  if (sums_.defined()) all.push_back(sums_);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    // The pieces that lie in it as a whole.
    const std::int64_t end = (storage_.layout().offsets[i] + storage_.sizes()[i]) / touched_piece;
    const std::int64_t begin = pieces_of(storage_.layout().offsets[i]);
    if (!buffers_[i]->is_sparse() || begin >= end) continue;
    at::Tensor flags = at::zeros({end - begin}, touched_.options());
    for (const at::Tensor& flat : all) {
      const auto [least, most] =
          at::aminmax(flat.narrow(0, begin * touched_piece, (end - begin) * touched_piece)
                          .view({-1, touched_piece}),
                      1);
      flags.bitwise_or_(least.ne(0).bitwise_or_(most.ne(0)));
    }
    touched_.narrow(0, begin, end - begin).copy_(flags);
  }
}

void GradientBuffers::settle() {
  const at::NoGradGuard no_grad;
  place();
  for (const auto& buffer : buffers_) buffer->fill_if_empty();
}

void GradientBuffers::drop() {
  if (storage_.low_precision())
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      for (const at::Tensor& handle : storage_.handles(i)) handle.mutable_grad().reset();
  zero();
}

void GradientBuffers::set_reduced() {
  for (const auto& buffer : buffers_) buffer->set_reduced();
}

void GradientBuffers::abandon() {
  forget_taken();
  for (const auto& buffer : buffers_) buffer->abandon();
}

void GradientBuffers::take(std::size_t i) {
  if (refuses_gradients_)
    throw Error(cat("the recipe's loss added a gradient to ", storage_.parameters()[i].name,
                    " by a backward pass of its own; Lockstep makes the one backward pass, over "
                    "the sum of the terms that the loss returns"),
                "return what is to be minimised as a term; for a gradient inside the loss, as a "
                "penalty needs it, use torch::autograd::grad, which adds up nothing; two models "
                "that are trained in turn are not supported");
  GradientBuffer& buffer = *buffers_[i];
  if (!storage_.low_precision()) return buffer.added_by_autograd();
  const at::NoGradGuard no_grad;
  buffer.wait_for_reader();
  for (const at::Tensor& handle : storage_.handles(i)) {
    at::Tensor& gradient = handle.mutable_grad();
    if (!gradient.defined()) continue;
    if (!buffer.is_stale()) place();  // the one before may wait to be placed
    const GradientTarget target = buffer.open_for_autograd(gradient.scalar_type());
    if (target.overwrite) {
      taken_bytes_ += static_cast<std::int64_t>(gradient.nbytes());
      taken_.emplace_back(target.into, gradient);
    } else {
      target.into.add_(gradient);
    }
    gradient.reset();
  }
  buffer.fill_if_empty();
  if (taken_bytes_ > most_taken_bytes) place_taken();
}

void GradientBuffers::place() {
  if (side_ != nullptr) side_->wait_for_all();
  for (const auto& buffer : buffers_) buffer->join();
  place_taken();
}

void GradientBuffers::run_behind(const std::function<void()>& work) {
  place_taken();
  run_beside(side_, {}, work);
}

void GradientBuffers::make_beside(SideWork* side) {
  side_ = side;
  for (const auto& buffer : buffers_) buffer->set_side_work(side);
}

void GradientBuffers::place_taken() {
  if (taken_.empty()) return;
  const at::NoGradGuard no_grad;
  copy_all(taken_);
  forget_taken();
}

void GradientBuffers::forget_taken() {
  taken_.clear();
  taken_bytes_ = 0;
}

}  // namespace lockstep
