// Where one parameter's gradient is added up in a step, as a state machine.
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

// empty: a step is under way, and no gradient came yet. The memory is zero-filled, or stale: then
//   the first gradient overwrites it, or it is zero-filled before that is added.
// pending: the last gradient may not be there yet. It is made on the side stream, or its copy is
//   queued by GradientBuffers.
// accumulated: the sum of this step's gradients so far, behind what the current stream was given.
// reduced: no step is under way, and no sum of one is incomplete. A pass between steps, as a
//   recipe's evaluation may make, adds to the memory and changes no state. Such gradients count as
//   dirty, so that the next step does not take them for its own.
enum class GradientState { empty, pending, accumulated, reduced };

// The plan for the first gradient of a step.
enum class FirstGradient {
  adds_to_zeros,            // the memory is zero-filled when the step begins
  overwrites,               // it is not: the gradient overwrites what lies there
  overwrites_reduce_buffer  // the same, and it may be written where ranks reduce, in low precision
};

// The outcome of a step, for such a plan.
struct GradientObservation {
  int gradients = 0;         // that came in the step
  bool needs_zeros = false;  // the first could not overwrite the memory, or none came: ever
  bool is_sparse = false;    // rows and nothing else, so far
};

// Abilities of the operation that makes a gradient, besides adding it to f32.
struct GradientAbility {
  bool overwrites = false;   // write all of it over stale memory
  bool rounds = false;       // with overwrites: write the parameter's own dtype
  bool any_strides = false;  // handle a buffer that is not contiguous
};

// into: where a gradient goes, of the parameter's shape, f32, or with `rounds` of its dtype.
// Undefined: autograd shall have it. overwrite: what lies there is stale; add to it otherwise.
struct GradientTarget {
  at::Tensor into;
  bool overwrite = false;
};

// One per trained parameter, made by GradientBuffers (training/gradients/gradient_buffers.h). Its
// state is the host's, about work that was enqueued. A call that its state forbids is a bug of
// Lockstep's: it ends the process and names the parameter. Not thread-safe: one backward pass at a
// time.
class GradientBuffer {
 public:
  // name: the parameter's. f32: of its shape, any strides. autograd_adds: autograd adds to f32 by
  // itself (compute dtype fp32). Begins as `reduced`.
  GradientBuffer(std::string name, at::Tensor f32, bool autograd_adds = false);

  const std::string& name() const { return name_; }
  GradientState state() const { return state_; }
  const at::Tensor& f32() const { return f32_; }
  // Whether the step's only gradient lies in the reduce buffer, and f32 is stale.
  bool is_rounded() const { return rounded_; }
  bool is_stale() const { return state_ == GradientState::empty && stale_; }
  // After the backward passes of a step.
  GradientObservation observed() const;

  // The parameter's part of the reduce buffer, of its shape, where ranks reduce in a low precision.
  // A gradient that is the only one of a step may be written there at once.
  // REQUIRES: reduced.
  void set_reduce_buffer(at::Tensor reduce);
  // The side stream on which gradients may be made from now on; null: none. The current stream has
  // waited for the one before.
  void set_side_work(SideWork* side);
  SideWork* side_work() const { return side_; }

  // A step begins. adds_to_zeros: the memory holds zeros, or will when it is used; it is stale
  // otherwise. A step may turn out otherwise than it was planned: it costs a copy or zero-fill. A
  // gradient that was rounded and then added to was rounded once too often; it is not again.
  // REQUIRES: empty or reduced.
  void begin_step(FirstGradient first);
  // For an operation that makes one gradient: where it goes. Waits for what uses the memory still;
  // zero-fills it if the operation cannot overwrite what is stale. own: the parameter's dtype.
  // side: the stream on which the operation makes it; null: the current one.
  // A queued copy is made first: a pass inside another one, as of a recomputed block, may come
  // here. REQUIRES: if reduced, no side stream.
  GradientTarget open(const GradientAbility& can, at::ScalarType own, SideWork* side = nullptr);
  // Whether `open` would give a target of this dtype to an operation that rounds.
  bool would_round(at::ScalarType own) const;
  // The same for a gradient [any dtype] that autograd gave. With `overwrite` its copy is queued: it
  // is made by `open`, or by the caller (queued_copy). REQUIRES: not pending.
  GradientTarget open_for_autograd(const at::Tensor& gradient);
  // The target and the gradient of a copy that is queued still; undefined: none is.
  std::pair<at::Tensor, at::Tensor> queued_copy() const;
  // Autograd may have added to f32 by itself. REQUIRES: not stale.
  void added_by_autograd();
  // Before the memory is used: the current stream waits for a deferred update that reads it.
  void wait_for_reader();
  // The copy that was queued is made now; does nothing if there was none.
  void copied();
  // The current stream has waited for the side stream. Waits for a reader, too.
  // REQUIRES: no copy is queued.
  void join();
  // Zero-fills what is stale; does nothing otherwise.
  void fill_if_empty();
  // The sum over micro-batches and ranks is complete. REQUIRES: accumulated, or zero-filled.
  void set_reduced();
  // The memory was zero-filled, and nothing came yet. In a step it becomes empty.
  void restart();
  // The step broke off, and what lies there is of no use. It becomes reduced.
  void abandon();

  // Whether gradients came as rows so far, and never otherwise. Always false with autograd_adds.
  bool is_sparse() const { return has_rows_ && !has_others_ && !autograd_adds_; }
  std::int64_t row_count() const { return row_count_; }  // rows that came in this step
  // For an operation that used few rows of the parameter [V, D]: adds the gradient's rows, or keeps
  // them. On GPUs rows are added up in no fixed order, unless ATen was told to be deterministic.
  void add_rows(const SparseRows& rows);
  // Rows are appended to `kept` from now on, not added. Null: they are added again.
  void keep_rows(std::vector<SparseRows>* kept) { kept_ = kept; }
  // Adds rows that were kept, of any rank. REQUIRES: accumulated, zero-filled or reduced.
  void add_kept_rows(const SparseRows& rows);
  // dirty: pieces of the flat buffer, marked where rows are added.
  void set_dirty(DirtyRange dirty) { dirty_ = std::move(dirty); }
  // Marks all of it, on the device: other ranks add to it.
  void mark_dirty();

  // A deferred update of the weights, which operations ask before they read rows. Null: the weights
  // are up to date.
  void set_deferred_update(DeferredSparseUpdate* update) { update_ = update; }
  DeferredSparseUpdate* deferred_update() const { return update_; }
  // wait: called once, before anything uses the memory. It makes the current stream wait for a
  // deferred update, which reads the gradient of the step before and zero-fills behind it.
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
  bool stale_ = false;        // of `empty`
  at::Tensor queued_;         // of `pending`: the gradient to be copied; undefined: none
  bool rounds_ = false;       // of stale: the first gradient may go to the reduce buffer
  bool rounded_ = false;      // of `pending` and `accumulated`
  bool widened_ = false;      // in some step another gradient was added to a rounded one
  bool needs_zeros_ = false;  // in some step the first gradient could not overwrite, or none came
  int gradients_ = 0;         // how many came in this step
  SideWork* side_ = nullptr;
  std::function<void()> reader_;

  bool has_rows_ = false, has_others_ = false;
  std::int64_t row_count_ = 0;
  std::vector<SparseRows>* kept_ = nullptr;
  DirtyRange dirty_;
  DeferredSparseUpdate* update_ = nullptr;
};

}  // namespace lockstep
