// The gradients of the trained parameters: one flat buffer, and what is known of each part of it.
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

// Gives each trained parameter of `storage` a place for its gradient, in a flat buffer of the same
// layout:
//  compute dtype fp32: the .grad of each handle is a view of `flat`;
//  bf16, fp16: a .grad of that dtype is taken (`take`) and goes into the fp32 `flat`, or into
//  the reduce buffer.
// Operations that know ops/gradient_buffer/gradient_writer.h write into these buffers themselves.
// Owns the buffers. One thread, on the training stream.
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
  // Where ranks reduce gradients in bf16, if they do.
  ReduceBuffer& reduce_buffer() { return reduce_; }
  // The reduce buffer, bf16 [elements]; undefined: `flat` is reduced.
  const at::Tensor& sums() const { return reduce_.flat(); }
  // The plan that steps follow from now on. It may change between the backward passes of a step and
  // their reduction. First it is plan_before_warm_up.
  void use(std::shared_ptr<const StepPlan> plan) { plan_ = std::move(plan); }
  const std::shared_ptr<const StepPlan>& step_plan() const { return plan_; }
  const UpdatePlan& plan() const { return plan_->update; }
  // After the backward passes of a step: by parameter, what they showed.
  std::vector<ParameterObservation> observed() const;
  // By parameter: its gradients came as rows so far, and it is worth an update group of its own.
  std::vector<bool> large_sparse() const;
  // The flat buffer in which a plan reads parameter i's sum over the ranks: `sums` or `flat`.
  const at::Tensor& sums_of(std::size_t i, const UpdatePlan& plan) const {
    return plan.parameters[i].sum_in_reduce_buffer ? reduce_.flat() : flat_;
  }
  const at::Tensor& sums_of(std::size_t i) const { return sums_of(i, plan()); }

  // All become 0, within a step or between two.
  void zero();
  // A step begins, as the plan says. Zero-fills what is not overwritten: at once, or, where the
  // plan is that of a deferred update, by `zero_group` for each group: behind its update, and
  // before anything adds a gradient of it. The update of the step before is enqueued.
  void begin_step();
  void zero_group(std::size_t group);
  DirtyPieces& dirty() { return dirty_; }
  const DirtyPieces& dirty() const { return dirty_; }
  // DirtyPieces::find by the gradients and these flat buffers [elements].
  void find_dirty(std::vector<at::Tensor> flats);
  // All backward passes of the step are done: zero-fills the places to which no gradient came.
  void zero_fill_missing();
  // After a backward pass that broke off, or whose gradients nobody wants: all become 0, and no
  // copy waits any more. Allocates nothing. Counts of the step stay.
  void drop();
  // The step's gradients are complete: see GradientBuffer::set_reduced.
  void set_reduced();
  // The step broke off, as a capture that failed: see GradientBuffer::abandon. Enqueues nothing.
  void abandon();
  // Called once all of a backward pass that concerns parameter i is done. In low precision it takes
  // what arrived in .grad: added at once, or queued to be copied by place(), many in one
  // launch. Throws Error with the parameter's name while gradients are refused.
  void take(std::size_t i);
  // Before anything reads `flat`, and after each backward pass: the current stream waits for
  // all side work, and queued copies are made.
  void place();
  // Runs `work`, which reads `flat` as they are so far: on the side stream where they are made
  // there, so that the current stream does not wait for them, else at once.
  void run_behind(const std::function<void()>& work);
  // The side stream on which gradients may be made from now on; null: none.
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
