// A state machine for the memory in which one parameter's gradient is accumulated during a step.
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

// The states of a gradient's memory:
//   - empty: a step is in progress, but it has no gradient so far. The memory holds zeros, or stale
//     values of an earlier step. The first gradient overwrites stale memory, or is added
//     after a zero-fill.
//   - pending: the last gradient may not be in the memory yet. Either the side stream computes it,
//     or its copy to the memory is queued (queued_copy).
//   - accumulated: the memory holds the sum of this step's gradients so far. This holds once all
//     work that is now enqueued on the current stream has run.
//   - reduced: no step is in progress. A backward pass between steps, for example in a recipe's
//     evaluation, adds to the memory and does not change the state. The pass marks the parameter as
//     dirty, so that the next step does not take such gradients for its own.
enum class GradientState { empty, pending, accumulated, reduced };

// The plan for a step's first gradient.
enum class FirstGradient {
  adds_to_zeros,  // the memory holds zeros when the step begins
  overwrites,     // the memory is stale, and the first gradient overwrites it
  // The memory is stale. The first gradient overwrites it, or is written in low precision to the
  // reduce buffer (set_reduce_buffer).
  overwrites_reduce_buffer
};

// The facts that are observed in the steps so far. The plan for the next step is made from them.
struct GradientObservation {
  int gradients = 0;         // number of gradients in this step
  bool needs_zeros = false;  // a step's first gradient could not overwrite, or a step had none
  bool is_sparse = false;    // all gradients of all steps came through add_rows
};

// The abilities of the operation that computes a gradient. Every operation can add to f32 memory.
struct GradientAbility {
  bool overwrites = false;   // can overwrite stale memory
  bool rounds = false;       // with `overwrites`: can also write the parameter's dtype
  bool any_strides = false;  // can handle a buffer that is not contiguous
};

// Where an operation writes a gradient. `into` has the parameter's shape. Its dtype is f32. If
// GradientAbility::rounds is true for the operation, the dtype may also be that of the parameter.
// If `into` is undefined, the operation returns the gradient to autograd. If `overwrite` is true,
// the memory is stale and must be overwritten. Otherwise the gradient must be added to the memory.
struct GradientTarget {
  at::Tensor into;
  bool overwrite = false;
};

// The gradient's memory of one trained parameter, with its state. GradientBuffers
// (training/gradients/gradient_buffers.h) makes one for each trained parameter. The state is kept
// on the host, and describes work that is enqueued. REQUIRES names the states in which a call is
// allowed. A call in another state is a bug in Lockstep: the process ends with a message that names
// the parameter. Not thread-safe: only one backward pass may run at a time.
class GradientBuffer {
 public:
  // The first state is `reduced`.
  //   name            the parameter's name
  //   f32             the memory, in the parameter's shape, with any strides
  //   autograd_adds   whether autograd itself adds to `f32`, as it does for compute dtype fp32
  GradientBuffer(std::string name, at::Tensor f32, bool autograd_adds = false);

  const std::string& name() const { return name_; }
  GradientState state() const { return state_; }
  const at::Tensor& f32() const { return f32_; }
  // Whether the gradient is rounded: the step's only gradient is in the reduce buffer, in low
  // precision. The f32 memory is then stale.
  bool is_rounded() const { return rounded_; }
  bool is_stale() const { return state_ == GradientState::empty && stale_; }
  // Returns the facts that were observed. Call this after the backward passes of a step.
  GradientObservation observed() const;

  // Sets the parameter's part of the reduce buffer, in the parameter's shape. The reduce buffer
  // holds gradients in low precision. It exists only if ranks reduce gradients in low precision. A
  // step's only gradient may be written directly to the reduce buffer. REQUIRES: reduced.
  void set_reduce_buffer(at::Tensor reduce);
  // Sets the side stream on which later gradients may be computed. If `side` is null, there is no
  // side stream. Also removes the function that set_reader set. The current stream must already
  // have waited for the previous side stream.
  void set_side_work(SideWork* side);
  SideWork* side_work() const { return side_; }

  // Begins a step. `first` is the plan for the step's first gradient. It may be adds_to_zeros only
  // if the memory holds zeros, or will hold zeros when it is used. With the other plans, the memory
  // counts as stale from this call on. A step that differs from its plan costs a copy or a
  // zero-fill. If another gradient is added to a rounded gradient, later steps do not round
  // gradients. REQUIRES: empty or reduced.
  void begin_step(FirstGradient first);
  // For an operation that computes one gradient: returns where to write it. First makes the queued
  // copy, if there is one. There can be one if a backward pass inside another one calls `open`, for
  // example the backward pass of a recomputed block. Then the operation's stream waits for work
  // that still uses the memory. Stale memory is zero-filled if the operation cannot overwrite it.
  //   own    the parameter's dtype
  //   side   the stream on which the operation runs; null for the current stream
  // REQUIRES: not reduced if `side` is not null.
  GradientTarget open(const GradientAbility& can, at::ScalarType own, SideWork* side = nullptr);
  // Whether `open` would return a target of dtype `own` to an operation that rounds.
  bool would_round(at::ScalarType own) const;
  // Returns where to write a gradient of any dtype that autograd computed. If `overwrite` is true
  // in the result, the copy of the gradient to the target is queued. The next `open` makes the
  // copy, or the caller makes it (queued_copy, copied). REQUIRES: not pending.
  GradientTarget open_for_autograd(const at::Tensor& gradient);
  // The target and the source of the queued copy. Both are undefined if no copy is queued.
  std::pair<at::Tensor, at::Tensor> queued_copy() const;
  // Call this when autograd may have added to the f32 memory. REQUIRES: not stale.
  void added_by_autograd();
  // Call this before the memory is used. If a deferred update reads the memory, the current stream
  // waits for that update.
  void wait_for_reader();
  // Call this when the queued copy has been made. The call does nothing if no copy was queued.
  void copied();
  // Call this when the current stream has waited for the side stream. The call also waits as
  // wait_for_reader does. REQUIRES: no copy is queued.
  void join();
  // Zero-fills the memory if it is stale.
  void fill_if_empty();
  // Call this when the sum over micro-batches and ranks is complete. REQUIRES: neither pending nor
  // stale.
  void set_reduced();
  // Call this when the memory has been zero-filled, before another gradient comes. During a step,
  // the state becomes empty.
  void restart();
  // Call this when a step is given up. The contents of the memory are then useless, and the state
  // becomes reduced.
  void abandon();

  // Whether there were gradients in this step or earlier ones, and all of them came through
  // add_rows. Always false with autograd_adds.
  bool is_sparse() const { return has_rows_ && !has_others_ && !autograd_adds_; }
  // The number of rows that add_rows got in this step.
  std::int64_t row_count() const { return row_count_; }
  // For an operation that used few rows of the parameter [V, D]: adds the gradients of these rows
  // to the memory. After keep_rows, the rows are kept instead. GPUs add the rows in no fixed order,
  // unless ATen is set to be deterministic or SparseRows::order is defined.
  void add_rows(const SparseRows& rows);
  // After this call, add_rows appends its rows to `kept` instead of adding them to the memory. If
  // `kept` is null, add_rows adds its rows to the memory again.
  void keep_rows(std::vector<SparseRows>* kept) { kept_ = kept; }
  // Adds rows that add_rows kept on this rank or on another rank. REQUIRES: neither pending nor
  // stale.
  void add_kept_rows(const SparseRows& rows);
  // Sets the dirty flags of the flat buffer (sparse_rows.h). A flag becomes 1 where rows are added.
  void set_dirty(DirtyRange dirty) { dirty_ = std::move(dirty); }
  // Enqueues work that marks the whole parameter as dirty. This is needed if gradients of other
  // ranks are added to it.
  void mark_dirty();

  // Sets the deferred update of the parameter. Operations query it before they read rows of the
  // parameter. If it is null, the parameter is up to date.
  void set_deferred_update(DeferredSparseUpdate* update) { update_ = update; }
  DeferredSparseUpdate* deferred_update() const { return update_; }
  // Sets the function `wait`, which is called once, before the memory is used. `wait` makes the
  // current stream wait for a deferred update. That update reads the gradient of the previous step
  // and then zero-fills it. REQUIRES: not pending.
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
  at::Tensor queued_;         // the source of the queued copy; undefined if none is queued
  bool rounds_ = false;       // if stale: the first gradient may overwrite the reduce buffer
  bool rounded_ = false;      // in states `pending` and `accumulated`: see is_rounded
  bool widened_ = false;      // in some step another gradient was added to a rounded one
  bool needs_zeros_ = false;  // see GradientObservation::needs_zeros
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
