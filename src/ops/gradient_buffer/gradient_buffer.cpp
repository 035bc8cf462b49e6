#include "ops/gradient_buffer/gradient_buffer.h"

#include "core/base/check.h"

#include <utility>

// Checked in all builds, because it costs only a few comparisons per gradient.
#define REQUIRE(condition) LOCKSTEP_CHECK_CALL(condition, name_.c_str(), state_name())

namespace lockstep {

GradientBuffer::GradientBuffer(std::string name, at::Tensor f32, bool autograd_adds)
    : name_(std::move(name)), f32_(std::move(f32)), autograd_adds_(autograd_adds) {
  LOCKSTEP_CHECK(f32_.scalar_type() == at::kFloat);
}

const char* GradientBuffer::state_name() const {
  switch (state_) {
    case GradientState::empty:
      return stale_ ? "empty and stale" : "empty";
    case GradientState::pending:
      return queued_.defined() ? "pending, with a copy queued" : "pending";
    case GradientState::accumulated:
      return "accumulated";
    case GradientState::reduced:
      return "reduced";
  }
  return "in no state";
}

void GradientBuffer::set_reduce_buffer(at::Tensor reduce) {
  REQUIRE(state_ == GradientState::reduced);
  LOCKSTEP_CHECK(reduce.sizes() == f32_.sizes());
  reduce_ = std::move(reduce);
}

void GradientBuffer::set_side_work(SideWork* side) {
  if (state_ == GradientState::pending && !queued_.defined()) state_ = GradientState::accumulated;
  side_ = side;
  reader_ = {};
}

void GradientBuffer::begin_step(FirstGradient first) {
  REQUIRE(state_ == GradientState::empty || state_ == GradientState::reduced);
  state_ = GradientState::empty;
  stale_ = first != FirstGradient::adds_to_zeros;
  rounds_ = first == FirstGradient::overwrites_reduce_buffer;
  rounded_ = false;
  gradients_ = 0;
  row_count_ = 0;
}

GradientObservation GradientBuffer::observed() const {
  return {.gradients = gradients_,
          .needs_zeros = needs_zeros_ || gradients_ == 0,
          .is_sparse = is_sparse()};
}

bool GradientBuffer::would_round(at::ScalarType own) const {
  return is_stale() && rounds_ && !widened_ && reduce_.defined() && reduce_.scalar_type() == own;
}

GradientTarget GradientBuffer::open(const GradientAbility& can, at::ScalarType own,
                                    SideWork* side) {
  make_queued_copy();
  REQUIRE(side == nullptr || state_ != GradientState::reduced);
  has_others_ = true;
  if (state_ == GradientState::reduced) mark_dirty();
  if (!can.overwrites) {
    begin_addition(side);
    return {.into = f32_};
  }
  const bool rounds = can.rounds && would_round(own), overwrite = is_stale();
  begin_gradient(side);
  enter(side);
  rounded_ = rounds;
  return {.into = rounds ? reduce_ : f32_, .overwrite = overwrite};
}

GradientTarget GradientBuffer::open_for_autograd(const at::Tensor& gradient) {
  REQUIRE(state_ != GradientState::pending);
  has_others_ = true;
  if (state_ == GradientState::reduced) mark_dirty();
  ++gradients_;
  const bool rounds = would_round(gradient.scalar_type()), overwrite = is_stale();
  widen();
  enter(nullptr);
  if (overwrite) {
    state_ = GradientState::pending;
    queued_ = gradient;
  }
  rounded_ = rounds;
  return {.into = rounds ? reduce_ : f32_, .overwrite = overwrite};
}

void GradientBuffer::added_by_autograd() {
  REQUIRE(!is_stale());
  if (state_ == GradientState::empty) state_ = GradientState::accumulated;
}

// Called before a gradient is written or added. Makes the gradient's stream wait for the stream of
// the previous gradient.
void GradientBuffer::begin_gradient(SideWork* side) {
  ++gradients_;
  widen();
  wait_for_reader();
  if (side == nullptr && state_ == GradientState::pending) side_->wait_for_all();
}

void GradientBuffer::begin_addition(SideWork* side) {
  begin_gradient(side);
  if (is_stale()) f32_.zero_();
  if (state_ == GradientState::empty) needs_zeros_ = true;
  enter(side);
}

// Records that a gradient is being computed on that stream.
void GradientBuffer::enter(SideWork* side) {
  if (state_ == GradientState::reduced) return;
  state_ = side != nullptr ? GradientState::pending : GradientState::accumulated;
  stale_ = false;
}

// Copies a gradient from the reduce buffer to f32, so that another gradient can be added.
void GradientBuffer::widen() {
  if (!rounded_) return;
  if (state_ == GradientState::pending) side_->wait_for_all();
  f32_.copy_(reduce_);
  rounded_ = false;
  widened_ = true;
}

void GradientBuffer::wait_for_reader() {
  if (!reader_) return;
  std::exchange(reader_, {})();
}

std::pair<at::Tensor, at::Tensor> GradientBuffer::queued_copy() const {
  if (!queued_.defined()) return {};
  return {rounded_ ? reduce_ : f32_, queued_};
}

void GradientBuffer::make_queued_copy() {
  if (!queued_.defined()) return;
  (rounded_ ? reduce_ : f32_).copy_(queued_);
  copied();
}

void GradientBuffer::copied() {
  if (!queued_.defined()) return;
  queued_.reset();
  state_ = GradientState::accumulated;
}

void GradientBuffer::join() {
  REQUIRE(!queued_.defined());
  wait_for_reader();
  if (state_ == GradientState::pending) state_ = GradientState::accumulated;
}

void GradientBuffer::fill_if_empty() {
  if (!is_stale()) return;
  f32_.zero_();
  stale_ = false;
  needs_zeros_ = true;
}

void GradientBuffer::set_reduced() {
  REQUIRE(state_ != GradientState::pending && !is_stale());
  state_ = GradientState::reduced;
  rounded_ = false;
}

void GradientBuffer::restart() {
  queued_.reset();
  rounded_ = stale_ = false;
  if (state_ != GradientState::reduced) state_ = GradientState::empty;
}

void GradientBuffer::abandon() {
  queued_.reset();
  rounded_ = stale_ = false;
  state_ = GradientState::reduced;
}

void GradientBuffer::add_rows(const SparseRows& rows) {
  make_queued_copy();
  has_rows_ = true;
  row_count_ += rows.rows.numel();
  if (kept_ != nullptr) {
    ++gradients_;
    kept_->push_back(rows);
    return;
  }
  begin_addition(nullptr);
  add_sparse_rows(f32_, rows, dirty_);
}

void GradientBuffer::add_kept_rows(const SparseRows& rows) {
  REQUIRE(state_ != GradientState::pending && !is_stale());
  wait_for_reader();
  add_sparse_rows(f32_, rows, dirty_);
  enter(nullptr);
}

void GradientBuffer::mark_dirty() {
  if (!dirty_.flags.defined()) return;
  const std::int64_t begin = dirty_.begin / dirty_piece;
  const std::int64_t end = dirty_pieces_of(dirty_.begin + f32_.numel());
  dirty_.flags.narrow(0, begin, end - begin).fill_(1);
}

void GradientBuffer::set_reader(std::function<void()> wait) {
  REQUIRE(state_ != GradientState::pending);
  reader_ = std::move(wait);
}

}  // namespace lockstep

#undef REQUIRE
