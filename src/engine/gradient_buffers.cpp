// The gradients of a step, until they are summed over the ranks.
#include "engine/gradient_buffers.h"

#include "base/error.h"
#include "base/text.h"
#include "kernels/copy_all.h"
#include "kernels/gradient_buffer.h"

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
  flat_ = at::zeros({storage.elements()}, storage.master().options());
  for (std::size_t i = 0; i < storage.parameters().size(); ++i) {
    states_.push_back(std::make_shared<BufferState>());
    for (const at::Tensor& handle : storage.places()[i].handles) {
      if (!handle.requires_grad()) continue;
      const at::Tensor gradient = storage.view(flat_, i);
      if (!storage.low_precision()) handle.mutable_grad() = gradient;
      set_gradient_buffer(handle, gradient, states_[i]);
    }
  }
}

GradientBuffers::~GradientBuffers() {
  for (std::size_t i = 0; i < states_.size(); ++i)
    for (const at::Tensor& handle : storage_.places()[i].handles) forget_gradient_buffer(handle);
}

void GradientBuffers::zero() {
  const at::NoGradGuard no_grad;
  forget_taken();
  flat_.zero_();
  for (const auto& state : states_) state->holds = BufferState::Holds::zeros;
}

void GradientBuffers::sum_in_bf16() {
  const at::NoGradGuard no_grad;
  sums_ = at::zeros({storage_.elements()}, flat_.options().dtype(at::kBFloat16));
  for (std::size_t i = 0; i < states_.size(); ++i) states_[i]->low = storage_.view(sums_, i);
}

// The places of the wanted parameters, neighbours together.
template <class Wanted>
GradientBuffers::Ranges GradientBuffers::ranges_of(std::vector<std::size_t> parameters,
                                                   const Wanted& wanted) const {
  std::sort(parameters.begin(), parameters.end(), [&](std::size_t a, std::size_t b) {
    return storage_.places()[a].begin < storage_.places()[b].begin;
  });
  Ranges ranges;
  for (const std::size_t i : parameters) {
    if (!wanted(i)) continue;
    const std::int64_t begin = storage_.places()[i].begin, end = storage_.places()[i].end;
    if (!ranges.empty() && ranges.back().second == begin)
      ranges.back().second = end;
    else
      ranges.emplace_back(begin, end);
  }
  return ranges;
}

void GradientBuffers::fill_sums(const std::vector<std::size_t>& parameters) {
  Copies copies;
  for (const auto& [begin, end] : ranges_of(parameters, [this](std::size_t i) {
         return states_[i]->holds != BufferState::Holds::low;
       }))
    copies.emplace_back(sums_.narrow(0, begin, end - begin), flat_.narrow(0, begin, end - begin));
  copy_all(copies);
}

void GradientBuffers::bring_sums(const std::vector<std::size_t>& parameters) {
  Ranges ranges =
      ranges_of(parameters, [this](std::size_t i) { return !sums_of(i).is_same(sums_); });
  if (storage_.sharing() != nullptr &&
      !ranges.empty()) {  // then of all: what this rank has the sums of
    ranges.clear();
    for (const Shard& shard : storage_.own()) ranges.emplace_back(shard.begin, shard.end);
  }
  Copies copies;
  for (const auto& [begin, end] : ranges)
    copies.emplace_back(flat_.narrow(0, begin, end - begin), sums_.narrow(0, begin, end - begin));
  copy_all(copies);
}

void GradientBuffers::choose_sums() {
  if (!sums_.defined() || !may_leave_sums_ || leaves_sums()) return;
  for (std::size_t i = 0; i < storage_.parameters().size(); ++i)
    leaves_sum_.push_back(storage_.sharing() != nullptr || !is_table(i) ||
                          storage_.places()[i].elements * 4 < smallest_bucket_bytes);
}

// A step shows which places can be overwritten.
void GradientBuffers::choose_written() {
  std::vector<bool> written;
  for (std::size_t i = 0; i < storage_.parameters().size(); ++i)
    written.push_back(storage_.places()[i].handles.size() == 1 && !states_[i]->was_added_to);
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
  forget_step();
  for (std::size_t i = 0; i < states_.size(); ++i)
    states_[i]->holds =
        zeroes_all_ || !written_[i] ? BufferState::Holds::zeros : BufferState::Holds::anything;
}

void GradientBuffers::zero_part(std::size_t part) {
  const at::NoGradGuard no_grad;
  zeroed_parts_[part]->zero(flat_, touched_);
}

void GradientBuffers::begin_step(bool may_prepare) {
  forget_step();
  const bool first_step = written_.empty();
  if (!storage_.low_precision() || (first_step && !may_prepare)) return zero();
  if (first_step) {
    written_.assign(storage_.parameters().size(), false);
    return zero();
  }
  const at::NoGradGuard no_grad;
  if (may_prepare) choose_written();
  if (zeroed_.empty()) return zero();
  zeroed_.back()->zero(flat_);
  for (std::size_t i = 0; i < states_.size(); ++i)
    states_[i]->holds = written_[i] ? BufferState::Holds::anything : BufferState::Holds::zeros;
}

void GradientBuffers::watch_tables() {
  if (!storage_.low_precision() || storage_.sharing() != nullptr) return;
  touched_ = at::ones({pieces_of(storage_.elements())}, flat_.options().dtype(at::kByte));
  for (std::size_t i = 0; i < states_.size(); ++i)
    states_[i]->touched = {.flags = touched_, .begin = storage_.places()[i].begin};
}

bool GradientBuffers::is_table(std::size_t i) const {
  return storage_.low_precision() && states_[i]->has_rows && !states_[i]->has_others;
}

void GradientBuffers::find_touched(const std::vector<at::Tensor>& flats) {
  if (!touched_.defined()) return;
  const at::NoGradGuard no_grad;
  touched_.fill_(1);
  std::vector<at::Tensor> all = flats;
  all.push_back(flat_);
  if (sums_.defined()) all.push_back(sums_);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    // The pieces that lie in it as a whole.
    const std::int64_t end =
        (storage_.places()[i].begin + storage_.places()[i].elements) / touched_piece;
    const std::int64_t begin = pieces_of(storage_.places()[i].begin);
    if (!is_table(i) || begin >= end) continue;
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

void GradientBuffers::touch(std::size_t i) {
  if (!touched_.defined()) return;
  const std::int64_t begin = storage_.places()[i].begin / touched_piece;
  const std::int64_t end = pieces_of(storage_.places()[i].begin + storage_.places()[i].elements);
  touched_.narrow(0, begin, end - begin).fill_(1);
}

void GradientBuffers::add_rows(std::size_t i, const TableRows& rows) {
  wait_for_user(*states_[i]);
  add_table_rows(storage_.view(flat_, i), rows, states_[i]->touched);
  states_[i]->holds = BufferState::Holds::gradients;
}

void GradientBuffers::settle_one(std::size_t i) {
  BufferState& state = *states_[i];
  if (state.holds != BufferState::Holds::anything) return;
  storage_.view(flat_, i).zero_();
  state.holds = BufferState::Holds::zeros;
  state.was_added_to = true;
}

void GradientBuffers::settle() {
  const at::NoGradGuard no_grad;
  place();
  for (std::size_t i = 0; i < states_.size(); ++i) settle_one(i);
}

void GradientBuffers::drop() {
  if (storage_.low_precision())
    for (std::size_t i = 0; i < states_.size(); ++i)
      for (const at::Tensor& handle : storage_.places()[i].handles) handle.mutable_grad().reset();
  zero();
}

void GradientBuffers::take(std::size_t i) {
  if (refuses_gradients_)
    throw Error(cat("the recipe's loss added a gradient to ", storage_.parameters()[i].name,
                    " by a backward pass of its own; Lockstep makes the one backward pass, over "
                    "the sum of the terms that the loss returns"),
                "return what is to be minimised as a term; for a gradient inside the loss, as a "
                "penalty needs it, use torch::autograd::grad, which adds up nothing; two models "
                "that are trained in turn are not supported");
  if (!storage_.low_precision()) return;
  const at::NoGradGuard no_grad;
  wait_for_user(*states_[i]);
  for (const at::Tensor& handle : storage_.places()[i].handles) {
    at::Tensor& gradient = handle.mutable_grad();
    if (!gradient.defined()) continue;
    BufferState& state = *states_[i];
    state.has_others = true;
    ++state.gradients;
    const at::Tensor buffer = storage_.view(flat_, i);
    const bool low = state.takes_low(gradient.scalar_type());
    if (state.holds == BufferState::Holds::low) place();  // that one may wait to be placed
    bring_from_low(state, buffer);
    using Holds = BufferState::Holds;
    const Holds before = std::exchange(state.holds, low ? Holds::low : Holds::gradients);
    if (before == Holds::anything) {
      taken_bytes_ += static_cast<std::int64_t>(gradient.nbytes());
      taken_.emplace_back(low ? state.low : buffer, gradient);
    } else {
      place();
      buffer.add_(gradient);
    }
    gradient.reset();
  }
  settle_one(i);
  if (taken_bytes_ > most_taken_bytes) place_taken();
}

void GradientBuffers::place() {
  if (side_ != nullptr) side_->wait_for_all();
  for (const auto& state : states_) wait_for_user(*state);
  place_taken();
}

void GradientBuffers::run_behind(const std::function<void()>& work) {
  place_taken();
  run_beside(side_, {}, work);
}

void GradientBuffers::make_beside(SideWork* side) {
  side_ = side;
  for (const auto& state : states_) {
    state->side = side;
    state->made_beside = false;
    state->wait_for_user = {};
  }
}

void GradientBuffers::place_taken() {
  if (taken_.empty()) return;
  const at::NoGradGuard no_grad;
  copy_all(taken_);
  forget_taken();
}

// Forgets what the step before left.
void GradientBuffers::forget_step() {
  forget_taken();
  for (const auto& state : states_) {
    state->was_alone = std::exchange(state->gradients, 0) == 1;
    state->row_count = 0;
  }
}

void GradientBuffers::forget_taken() {
  taken_.clear();
  taken_bytes_ = 0;
}

}  // namespace lockstep
