// Flat buffers and the views into them.
#include "engine/arena.h"

#include "base/error.h"
#include "base/text.h"
#include "engine/layout.h"
#include "engine/process_group.h"
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

// Of touched_piece elements, the last one perhaps in part.
std::int64_t pieces_of(std::int64_t elements) {
  return (elements + touched_piece - 1) / touched_piece;
}

}  // namespace

Arena::Arena(const std::vector<Parameter>& registered, at::Device device,
             at::ScalarType compute_dtype, ProcessGroup* sharing, std::int64_t bucket_bytes)
    : Arena(sort_parameters(registered), device, compute_dtype, sharing, bucket_bytes) {}

Arena::Arena(ModelParameters sorted, at::Device device, at::ScalarType compute_dtype,
             ProcessGroup* sharing, std::int64_t bucket_bytes)
    : frozen_(std::move(sorted.frozen), device, compute_dtype),
      aliases_(std::move(sorted.aliases)),
      sharing_(sharing != nullptr && sharing->size() > 1 ? sharing : nullptr) {
  for (UniqueParameter& one : sorted.trained) {
    sizes_.push_back(one.parameter.tensor.numel());
    strides_.push_back(dense_strides(one.parameter.tensor));
    parameters_.push_back(std::move(one.parameter));
    handles_.push_back(std::move(one.handles));
  }
  layout_ = lay_out(sizes_, arena_alignment * (sharing_ != nullptr ? sharing_->size() : 1));
  buckets_ = cut_buckets(layout_, sizes_, bucket_bytes);
  find_own_pieces();
  const at::NoGradGuard no_grad;
  const auto flat = [&](std::int64_t elements, at::ScalarType dtype) {
    return at::zeros({elements}, at::TensorOptions().dtype(dtype).device(device));
  };
  const bool low = compute_dtype != at::kFloat;
  master_ = flat(low ? own_elements() : layout_.elements, at::kFloat);
  gradients_ = flat(layout_.elements, at::kFloat);
  if (low) working_ = flat(layout_.elements, compute_dtype);
  for (std::size_t i = 0; i < parameters_.size(); ++i) set_weights(i, parameters_[i].tensor);
  point_at(low ? working_ : master_);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    states_.push_back(std::make_shared<BufferState>());
    for (at::Tensor& handle : handles_[i]) {
      if (!handle.requires_grad()) continue;
      const at::Tensor gradient = view(gradients_, i);
      if (!low) handle.mutable_grad() = gradient;
      set_gradient_buffer(handle, gradient, states_[i]);
    }
  }
}

Arena::~Arena() {
  for (const auto& handles : handles_)
    for (const at::Tensor& handle : handles) forget_gradient_buffer(handle);
}

at::Tensor Arena::view(const at::Tensor& flat, std::size_t i) const {
  return shaped(flat.narrow(0, layout_.offsets[i], sizes_[i]), i);
}

at::Tensor Arena::shaped(const at::Tensor& row, std::size_t i) const {
  return view_as(row, parameters_[i].tensor.sizes(), strides_[i]);
}

void Arena::zero_gradients() {
  const at::NoGradGuard no_grad;
  forget_taken();
  gradients_.zero_();
  for (const auto& state : states_) state->holds = BufferState::Holds::zeros;
}

void Arena::sum_in_bf16() {
  const at::NoGradGuard no_grad;
  sums_ = at::zeros({layout_.elements}, gradients_.options().dtype(at::kBFloat16));
  for (std::size_t i = 0; i < states_.size(); ++i) states_[i]->low = view(sums_, i);
}

std::int64_t Arena::end_of(std::size_t i) const {
  return i == 0 ? layout_.elements : layout_.offsets[i - 1];
}

// Of the places of those of the parameters that are wanted, neighbours together.
template <class Wanted>
Arena::Ranges Arena::ranges_of(std::vector<std::size_t> parameters, const Wanted& wanted) const {
  std::sort(parameters.begin(), parameters.end(),
            [&](std::size_t a, std::size_t b) { return layout_.offsets[a] < layout_.offsets[b]; });
  Ranges ranges;
  for (const std::size_t i : parameters) {
    if (!wanted(i)) continue;
    const std::int64_t begin = layout_.offsets[i], end = end_of(i);
    if (!ranges.empty() && ranges.back().second == begin)
      ranges.back().second = end;
    else
      ranges.emplace_back(begin, end);
  }
  return ranges;
}

void Arena::fill_sums(const std::vector<std::size_t>& parameters) {
  Copies copies;
  for (const auto& [begin, end] : ranges_of(parameters, [this](std::size_t i) {
         return states_[i]->holds != BufferState::Holds::low;
       }))
    copies.emplace_back(sums_.narrow(0, begin, end - begin),
                        gradients_.narrow(0, begin, end - begin));
  copy_all(copies);
}

void Arena::bring_sums(const std::vector<std::size_t>& parameters) {
  Ranges ranges =
      ranges_of(parameters, [this](std::size_t i) { return !sums_of(i).is_same(sums_); });
  if (sharing_ != nullptr && !ranges.empty()) {  // then of all: what this rank has the sums of
    ranges.clear();
    for (const Piece& piece : own_) ranges.emplace_back(piece.begin, piece.end);
  }
  Copies copies;
  for (const auto& [begin, end] : ranges)
    copies.emplace_back(gradients_.narrow(0, begin, end - begin),
                        sums_.narrow(0, begin, end - begin));
  copy_all(copies);
}

void Arena::choose_sums() {
  if (!sums_.defined() || !may_leave_sums_ || leaves_sums()) return;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    leaves_sum_.push_back(sharing_ != nullptr || !is_table(i) ||
                          sizes_[i] * 4 < smallest_bucket_bytes);
}

// What can be written is known once a step has shown it.
void Arena::choose_written() {
  std::vector<bool> written;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    written.push_back(handles_[i].size() == 1 && !states_[i]->was_added_to);
  if (!zeroed_.empty() && written == written_) return;
  written_ = std::move(written);
  zeroed_.push_back(zeros_of([&](std::size_t i) { return !written_[i]; }));
}

// Those of the parameters that are wanted.
template <class Wanted>
std::unique_ptr<ZeroRanges> Arena::zeros_of(const Wanted& wanted) const {
  std::vector<std::size_t> all(parameters_.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<ZeroRange> ranges;
  for (const auto& [begin, end] : ranges_of(std::move(all), wanted)) ranges.push_back({begin, end});
  return std::make_unique<ZeroRanges>(std::move(ranges), gradients_.device());
}

void Arena::cut_zeros(const std::vector<std::size_t>& part_of, bool all) {
  if (low_precision() && !written_.empty()) choose_written();
  zeroes_all_ = all || !low_precision() || zeroed_.empty();
  std::move(zeroed_parts_.begin(), zeroed_parts_.end(), std::back_inserter(earlier_parts_));
  zeroed_parts_.clear();
  const std::size_t parts = *std::max_element(part_of.begin(), part_of.end()) + 1;
  for (std::size_t part = 0; part < parts; ++part)
    zeroed_parts_.push_back(zeros_of(
        [&](std::size_t i) { return part_of[i] == part && (zeroes_all_ || !written_[i]); }));
}

void Arena::begin_gradients_in_parts() {
  forget_step();
  for (std::size_t i = 0; i < states_.size(); ++i)
    states_[i]->holds =
        zeroes_all_ || !written_[i] ? BufferState::Holds::zeros : BufferState::Holds::anything;
}

void Arena::zero_part(std::size_t part) {
  const at::NoGradGuard no_grad;
  zeroed_parts_[part]->zero(gradients_, touched_);
}

void Arena::begin_gradients(bool may_prepare) {
  forget_step();
  const bool first_step = written_.empty();
  if (!low_precision() || (first_step && !may_prepare)) return zero_gradients();
  if (first_step) {
    written_.assign(parameters_.size(), false);
    return zero_gradients();
  }
  const at::NoGradGuard no_grad;
  if (may_prepare) choose_written();
  if (zeroed_.empty()) return zero_gradients();
  zeroed_.back()->zero(gradients_);
  for (std::size_t i = 0; i < states_.size(); ++i)
    states_[i]->holds = written_[i] ? BufferState::Holds::anything : BufferState::Holds::zeros;
}

void Arena::watch_tables() {
  if (!low_precision() || sharing_ != nullptr) return;
  touched_ = at::ones({pieces_of(layout_.elements)}, gradients_.options().dtype(at::kByte));
  for (std::size_t i = 0; i < states_.size(); ++i)
    states_[i]->touched = {.flags = touched_, .begin = layout_.offsets[i]};
}

bool Arena::is_table(std::size_t i) const {
  return low_precision() && states_[i]->has_rows && !states_[i]->has_others;
}

void Arena::find_touched(const std::vector<at::Tensor>& flats) {
  if (!touched_.defined()) return;
  const at::NoGradGuard no_grad;
  touched_.fill_(1);
  std::vector<at::Tensor> all = flats;
  all.push_back(gradients_);
  if (sums_.defined()) all.push_back(sums_);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    // The pieces that lie in it as a whole.
    const std::int64_t end = (layout_.offsets[i] + sizes_[i]) / touched_piece;
    const std::int64_t begin = pieces_of(layout_.offsets[i]);
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

void Arena::touch(std::size_t i) {
  if (!touched_.defined()) return;
  const std::int64_t begin = layout_.offsets[i] / touched_piece;
  const std::int64_t end = pieces_of(layout_.offsets[i] + sizes_[i]);
  touched_.narrow(0, begin, end - begin).fill_(1);
}

void Arena::add_rows(std::size_t i, const TableRows& rows) {
  wait_for_user(*states_[i]);
  add_table_rows(view(gradients_, i), rows, states_[i]->touched);
  states_[i]->holds = BufferState::Holds::gradients;
}

void Arena::settle(std::size_t i) {
  BufferState& state = *states_[i];
  if (state.holds != BufferState::Holds::anything) return;
  view(gradients_, i).zero_();
  state.holds = BufferState::Holds::zeros;
  state.was_added_to = true;
}

void Arena::settle_gradients() {
  const at::NoGradGuard no_grad;
  place_gradients();
  for (std::size_t i = 0; i < states_.size(); ++i) settle(i);
}

void Arena::drop_gradients() {
  if (low_precision())
    for (auto& handles : handles_)
      for (at::Tensor& handle : handles) handle.mutable_grad().reset();
  zero_gradients();
}

void Arena::take_gradient(std::size_t i) {
  if (refuses_gradients_)
    throw Error(cat("the recipe's loss added a gradient to ", parameters_[i].name,
                    " by a backward pass of its own; Lockstep makes the one backward pass, over "
                    "the sum of the terms that the loss returns"),
                "return what is to be minimised as a term; for a gradient inside the loss, as a "
                "penalty needs it, use torch::autograd::grad, which adds up nothing; two models "
                "that are trained in turn are not supported");
  if (!low_precision()) return;
  const at::NoGradGuard no_grad;
  wait_for_user(*states_[i]);
  for (at::Tensor& handle : handles_[i]) {
    at::Tensor& gradient = handle.mutable_grad();
    if (!gradient.defined()) continue;
    BufferState& state = *states_[i];
    state.has_others = true;
    ++state.gradients;
    const at::Tensor buffer = view(gradients_, i);
    const bool low = state.takes_low(gradient.scalar_type());
    if (state.holds == BufferState::Holds::low)
      place_gradients();  // that one may wait to be placed
    bring_from_low(state, buffer);
    using Holds = BufferState::Holds;
    const Holds before = std::exchange(state.holds, low ? Holds::low : Holds::gradients);
    if (before == Holds::anything) {
      taken_bytes_ += static_cast<std::int64_t>(gradient.nbytes());
      taken_.emplace_back(low ? state.low : buffer, gradient);
    } else {
      place_gradients();
      buffer.add_(gradient);
    }
    gradient.reset();
  }
  settle(i);
  if (taken_bytes_ > most_taken_bytes) place_taken();
}

void Arena::place_gradients() {
  if (side_ != nullptr) side_->wait_for_all();
  for (const auto& state : states_) wait_for_user(*state);
  place_taken();
}

void Arena::behind_gradients(const std::function<void()>& work) {
  place_taken();
  run_beside(side_, {}, work);
}

void Arena::make_gradients_beside(SideWork* side) {
  side_ = side;
  for (const auto& state : states_) {
    state->side = side;
    state->made_beside = false;
    state->wait_for_user = {};
  }
}

void Arena::place_taken() {
  if (taken_.empty()) return;
  const at::NoGradGuard no_grad;
  copy_all(taken_);
  forget_taken();
}

// What the step before left.
void Arena::forget_step() {
  forget_taken();
  for (const auto& state : states_) {
    state->was_alone = std::exchange(state->gradients, 0) == 1;
    state->row_count = 0;
  }
}

void Arena::forget_taken() {
  taken_.clear();
  taken_bytes_ = 0;
}

}  // namespace lockstep
