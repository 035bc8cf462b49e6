// The gradients of the trained parameters: one flat buffer, and the state of each part of it.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"
#include "training/gradients/dirty_pieces.h"
#include "training/gradients/reduce_buffer.h"
#include "training/parameters/parameter_storage.h"
#include "training/plan/step_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace lockstep {

// Gives each trained parameter of `storage` a place for its gradient, in a flat buffer with the
// layout of the storage:
//  compute dtype fp32: the .grad of each handle is a view of `flat`;
//  bf16, fp16: the .grad has that dtype, and `take` moves it into the fp32 `flat`, or into the
//  reduce buffer.
// Operations that use ops/gradient_buffer/gradient_writer.h write directly into these buffers. Owns
// the buffers. One thread, on the training stream.
class GradientBuffers {
 public:
  explicit GradientBuffers(ParameterStorage& storage);  // outlives it
  ~GradientBuffers();
  GradientBuffers(const GradientBuffers&) = delete;
  GradientBuffers& operator=(const GradientBuffers&) = delete;

  ParameterStorage& storage() const { return storage_; }
  // Where parameter i's gradient is added up, and in which state.
  GradientBuffer& operator[](std::size_t i) { return *buffers_[i]; }
  const GradientBuffer& operator[](std::size_t i) const { return *buffers_[i]; }
  const at::Tensor& flat() const { return flat_; }  // f32 [elements]
  // The buffer in which ranks reduce gradients, if they reduce in bf16.
  ReduceBuffer& reduce_buffer() { return reduce_; }
  // The reduce buffer's tensor, bf16 [elements]. Undefined: ranks reduce `flat`.
  const at::Tensor& sums() const { return reduce_.flat(); }
  // Sets the plan that steps follow from now on. The plan may change between the backward passes of
  // a step and their reduction. At first it is plan_before_warm_up.
  void use(std::shared_ptr<const StepPlan> plan) { plan_ = std::move(plan); }
  const std::shared_ptr<const StepPlan>& step_plan() const { return plan_; }
  const UpdatePlan& plan() const { return plan_->update; }
  // After the backward passes of a step: returns what they showed about each parameter.
  std::vector<ParameterObservation> observed() const;
  // By parameter: true if its gradients came as rows so far and it is worth an update group of its
  // own.
  std::vector<bool> large_sparse() const;
  // The flat buffer in which a plan reads parameter i's sum over the ranks: `sums` or `flat`.
  const at::Tensor& sums_of(std::size_t i, const UpdatePlan& plan) const {
    return plan.parameters[i].sum_in_reduce_buffer ? reduce_.flat() : flat_;
  }
  const at::Tensor& sums_of(std::size_t i) const { return sums_of(i, plan()); }

  // Sets all gradients to 0. May be called within a step or between two steps.
  void zero();
  // Begins a step, as the plan says. The update of the previous step must be enqueued. Immediately
  // zero-fills all gradients that are not overwritten. If the plan has a deferred update,
  // `zero_group` zero-fills each group instead: after the group's update, and before any gradient
  // is added to the group.
  void begin_step();
  void zero_group(std::size_t group);
  DirtyPieces& dirty() { return dirty_; }
  const DirtyPieces& dirty() const { return dirty_; }
  // Calls DirtyPieces::find with the gradients and these flat buffers [elements].
  void find_dirty(std::vector<at::Tensor> flats);
  // Call it when all backward passes of the step are done. Zero-fills the places that got no
  // gradient.
  void zero_fill_missing();
  // After a backward pass that failed, or whose gradients are not wanted: sets all gradients to 0,
  // and drops all queued copies. Allocates nothing. The counts of the step stay.
  void drop();
  // The step's gradients are complete: see GradientBuffer::set_reduced.
  void set_reduced();
  // The step was not completed, for example because its capture failed: see
  // GradientBuffer::abandon. Enqueues nothing.
  void abandon();
  // Called when the part of a backward pass that concerns parameter i is done. In low precision it
  // takes the gradient from .grad. It adds the gradient at once, or queues it for place(), which
  // copies many in one launch. While gradients are refused, throws Error with the parameter's name.
  void take(std::size_t i);
  // Call it before anything reads `flat`, and after each backward pass. The current stream waits
  // for all work on the side stream, and queued copies are made.
  void place();
  // Runs `work`, which reads the gradients in `flat` as they are so far. If gradients are made on a
  // side stream, `work` runs there, so that the current stream does not wait for it. Otherwise it
  // runs at once.
  void run_behind(const std::function<void()>& work);
  // Sets the side stream on which gradients may be computed from now on; null: none.
  void make_beside(SideWork* side);
  void refuse(bool on) { refuses_gradients_ = on; }

 private:
  void place_taken();
  void forget_taken();

  ParameterStorage& storage_;
  at::Tensor flat_;
  std::vector<std::shared_ptr<GradientBuffer>> buffers_;  // by parameter
  ReduceBuffer reduce_;
  std::shared_ptr<const StepPlan> plan_;
  DirtyPieces dirty_;
  SideWork* side_ = nullptr;
  // The parameters whose copies are queued (GradientBuffer::queued_copy), and their bytes.
  std::vector<std::size_t> taken_;
  std::int64_t taken_bytes_ = 0;
  bool refuses_gradients_ = false;
};

}  // namespace lockstep
