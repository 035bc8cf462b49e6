// The place where one parameter's gradient is added up in a step. It is a state machine.
#pragma once

#include "ops/embedding/sparse_rows.h"
#include "ops/gradient_buffer/deferred_sparse_update.h"
#include "ops/shared/side_work.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// empty: a step is in progress, and no gradient came yet. The memory is zero-filled or stale. If it
//   is stale, the first gradient overwrites it, or it is zero-filled before the first is added.
// pending: the last gradient may not be there yet. It is computed on the side stream, or
//   GradientBuffers has queued its copy.
// accumulated: the memory holds the sum of this step's gradients so far, after all work that is
//   enqueued on the current stream.
// reduced: no step is in progress, and no step's sum is incomplete. A backward pass between steps,
//   for example in a recipe's evaluation, adds to the memory and does not change the state. Such
//   gradients count as dirty, so that the next step does not use them as its own.
enum class GradientState { empty, pending, accumulated, reduced };

// The plan for the first gradient of a step.
enum class FirstGradient {
  adds_to_zeros,            // the memory is zero-filled when the step begins
  overwrites,               // the memory is not zero-filled, and the first gradient overwrites it
  overwrites_reduce_buffer  // the same, but it may go to the reduce buffer, in low precision
};

// The observations of a step, from which such a plan is made.
struct GradientObservation {
  int gradients = 0;         // number of gradients in the step
  bool needs_zeros = false;  // in some step the first gradient could not overwrite, or none came
  bool is_sparse = false;    // so far all gradients were rows
};

// Abilities of the operation that computes a gradient, in addition to adding it to f32 memory.
struct GradientAbility {
  bool overwrites = false;   // can overwrite the whole of a stale memory
  bool rounds = false;       // with `overwrites`: can write the parameter's own dtype
  bool any_strides = false;  // can handle a buffer that is not contiguous
};

// into: the memory for a gradient, of the parameter's shape, in f32, or with `rounds` in its dtype.
// Undefined: return the gradient to autograd. overwrite: the memory is stale. Otherwise add to it.
struct GradientTarget {
  at::Tensor into;
  bool overwrite = false;
};

// One per trained parameter, made by GradientBuffers (training/gradients/gradient_buffers.h). Its
// state is kept on the host, and describes enqueued work. A call that the state forbids is a bug of
// Lockstep. It ends the process with a message that names the parameter. Not thread-safe: one
// backward pass at a time.
class GradientBuffer {
 public:
  // name: the parameter's name. f32: the memory, in the parameter's shape, with any strides.
  // autograd_adds: autograd itself adds to `f32` (compute dtype fp32). The state is `reduced` at
  // first.
  GradientBuffer(std::string name, at::Tensor f32, bool autograd_adds = false);

  const std::string& name() const { return name_; }
  GradientState state() const { return state_; }
  const at::Tensor& f32() const { return f32_; }
  // Whether the step's only gradient is in the reduce buffer, and the f32 memory is stale.
  bool is_rounded() const { return rounded_; }
  bool is_stale() const { return state_ == GradientState::empty && stale_; }
  // Call it after the backward passes of a step.
  GradientObservation observed() const;

  // reduce: the parameter's part of the reduce buffer, in its shape, if ranks reduce in low
  // precision. The only gradient of a step may be written there directly. REQUIRES: reduced.
  void set_reduce_buffer(at::Tensor reduce);
  // Sets the side stream on which gradients may be computed from now on; null: none. The current
  // stream must have waited for the previous side stream.
  void set_side_work(SideWork* side);
  SideWork* side_work() const { return side_; }

  // A step begins. With adds_to_zeros the memory holds zeros, or will hold zeros when it is used.
  // Otherwise it is stale. If a step differs from its plan, this costs a copy or a zero-fill. If a
  // further gradient is added to a rounded one, the first was rounded unnecessarily. Later steps
  // then do not round it. REQUIRES: empty or reduced.
  void begin_step(FirstGradient first);
  // For an operation that computes one gradient: returns where it goes. Waits for work that still
  // uses the memory. Zero-fills stale memory if the operation cannot overwrite it. own: the
  // parameter's dtype. side: the stream on which the operation runs; null: the current one. A
  // queued copy is made first, because a backward pass inside another one, such as that of a
  // recomputed block, may call this. REQUIRES: if reduced, no side stream.
  GradientTarget open(const GradientAbility& can, at::ScalarType own, SideWork* side = nullptr);
  // Whether `open` would give a target of this dtype to an operation that rounds.
  bool would_round(at::ScalarType own) const;
  // The same for a gradient [any dtype] from autograd. With `overwrite` its copy is queued. Later
  // `open` or the caller (queued_copy) makes the copy. REQUIRES: not pending.
  GradientTarget open_for_autograd(const at::Tensor& gradient);
  // The target and the gradient of a copy that is still queued; undefined: none is queued.
  std::pair<at::Tensor, at::Tensor> queued_copy() const;
  // Call it when autograd may have added to the f32 memory. REQUIRES: not stale.
  void added_by_autograd();
  // Call it before the memory is used. The current stream then waits for a deferred update that
  // reads it.
  void wait_for_reader();
  // Call it when the queued copy is made. Does nothing if there was none.
  void copied();
  // Call it when the current stream has waited for the side stream. Waits for a reader, too.
  // REQUIRES: no copy is queued.
  void join();
  // Zero-fills stale memory. Otherwise does nothing.
  void fill_if_empty();
  // Call it when the sum over micro-batches and ranks is complete. REQUIRES: accumulated, or
  // zero-filled.
  void set_reduced();
  // Call it when the memory was zero-filled and no gradient came yet. In a step the state becomes
  // empty.
  void restart();
  // Call it when the step was not completed and the memory is useless. The state becomes reduced.
  void abandon();

  // Whether all gradients so far came as rows. Always false with autograd_adds.
  bool is_sparse() const { return has_rows_ && !has_others_ && !autograd_adds_; }
  std::int64_t row_count() const { return row_count_; }  // number of rows in this step
  // For an operation that used few rows of the parameter [V, D]: adds the gradient's rows, or keeps
  // them. On GPUs rows are added up in no fixed order, unless ATen was told to be deterministic.
  void add_rows(const SparseRows& rows);
  // From now on rows are appended to `kept` instead of being added. Null: they are added again.
  void keep_rows(std::vector<SparseRows>* kept) { kept_ = kept; }
  // Adds kept rows, of any rank. REQUIRES: accumulated, zero-filled or reduced.
  void add_kept_rows(const SparseRows& rows);
  // dirty: flags of the flat buffer's pieces, which are set where rows are added.
  void set_dirty(DirtyRange dirty) { dirty_ = std::move(dirty); }
  // Marks the whole parameter as dirty, on the device, because other ranks add to it.
  void mark_dirty();

  // Sets the deferred update of the weights, which operations query before they read rows. Null:
  // the weights are up to date.
  void set_deferred_update(DeferredSparseUpdate* update) { update_ = update; }
  DeferredSparseUpdate* deferred_update() const { return update_; }
  // wait: called once, before anything uses the memory. It makes the current stream wait for a
  // deferred update, which reads the gradient of the previous step and then zero-fills it.
  // REQUIRES: not pending.
  void set_reader(std::function<void()> wait);

 private:
  void begin_gradient(SideWork* side);
  void begin_addition(SideWork* side);
  void enter(SideWork* side);
  void widen();
  void make_queued_copy();
  const char* state_name() const;

  std::string name_;
  at::Tensor f32_, reduce_;
  bool autograd_adds_ = false;
  GradientState state_ = GradientState::reduced;
  bool stale_ = false;        // in state `empty`: the memory is stale
  at::Tensor queued_;         // in state `pending`: the gradient to be copied; undefined: none
  bool rounds_ = false;       // if stale: the first gradient may go to the reduce buffer
  bool rounded_ = false;      // in states `pending` and `accumulated`: see is_rounded
  bool widened_ = false;      // in some step another gradient was added to a rounded one
  bool needs_zeros_ = false;  // in some step the first gradient could not overwrite, or none came
  int gradients_ = 0;         // number of gradients in this step
  SideWork* side_ = nullptr;
  std::function<void()> reader_;

  bool has_rows_ = false, has_others_ = false;
  std::int64_t row_count_ = 0;
  std::vector<SparseRows>* kept_ = nullptr;
  DirtyRange dirty_;
  DeferredSparseUpdate* update_ = nullptr;
};

}  // namespace lockstep
