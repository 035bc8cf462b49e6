// Holds the gradients of the trained parameters in one flat buffer.
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

// Gives each trained parameter of `storage` a place for its gradient. The flat buffer has the
// layout of the storage.
//   - In fp32, the .grad of each of the model's tensors is a view of `flat`.
//   - In bf16 or fp16, .grad has that dtype. `take` moves the gradient into the fp32 buffer `flat`
//     or into the bf16 reduce buffer.
// Operations that use ops/gradient_buffer/gradient_writer.h write directly into these buffers. This
// object owns the buffers. All calls must come from one thread, with the training stream as the
// current stream.
class GradientBuffers {
 public:
  explicit GradientBuffers(ParameterStorage& storage);  // `storage` must outlive this object
  ~GradientBuffers();
  GradientBuffers(const GradientBuffers&) = delete;
  GradientBuffers& operator=(const GradientBuffers&) = delete;

  ParameterStorage& storage() const { return storage_; }
  // The memory in which parameter i's gradient is added up, with its state (GradientState).
  GradientBuffer& operator[](std::size_t i) { return *buffers_[i]; }
  const GradientBuffer& operator[](std::size_t i) const { return *buffers_[i]; }
  const at::Tensor& flat() const { return flat_; }  // f32 [elements]
  // The buffer in which ranks reduce gradients in bf16, if they do (ReduceBuffer::allocate).
  ReduceBuffer& reduce_buffer() { return reduce_; }
  // The reduce buffer's tensor, bf16 [elements]. It is undefined if the ranks reduce `flat`.
  const at::Tensor& sums() const { return reduce_.flat(); }
  // Sets the plan that gradients and updates follow from now on. It may be called even between a
  // step's backward passes and their reduction. The first plan is plan_before_warm_up.
  void use(std::shared_ptr<const StepPlan> plan) { plan_ = std::move(plan); }
  const std::shared_ptr<const StepPlan>& step_plan() const { return plan_; }
  const UpdatePlan& plan() const { return plan_->update; }
  // Returns how each parameter's gradient arrived in this step and in the steps before it. Call it
  // after the backward passes of a step.
  std::vector<ParameterObservation> observed() const;
  // For each parameter: whether it gets its own update group. A parameter gets its own group if all
  // its gradients so far consisted of rows. It must also have enough elements to fill the smallest
  // bucket (fills_a_bucket).
  std::vector<bool> large_sparse() const;
  // The flat buffer from which the update by `plan` reads parameter i's sum over the ranks: `sums`
  // or `flat`.
  const at::Tensor& sums_of(std::size_t i, const UpdatePlan& plan) const {
    return plan.parameters[i].sum_in_reduce_buffer ? reduce_.flat() : flat_;
  }
  const at::Tensor& sums_of(std::size_t i) const { return sums_of(i, plan()); }

  // Sets all gradients to 0. It may be called within a step or between two steps.
  void zero();
  // Begins a step. Call it when the update of the previous step is enqueued. Zero-fills all
  // gradients that will not be overwritten. If the plan has a deferred update, begin_step
  // zero-fills nothing. DeferredUpdate then calls `zero_group` for each group, after the group's
  // update and before any gradient is added to the group.
  void begin_step();
  void zero_group(std::size_t group);
  DirtyPieces& dirty() { return dirty_; }
  const DirtyPieces& dirty() const { return dirty_; }
  // Calls DirtyPieces::find with the gradients and `flats`, flat buffers [elements].
  void find_dirty(std::vector<at::Tensor> flats);
  // Zero-fills the memory of parameters that got no gradient in this step, unless the memory holds
  // zeros already. Call it when all backward passes of the step are done.
  void zero_fill_missing();
  // Sets all gradients to 0 and drops all queued copies (see `take`). Call it after a backward pass
  // that failed, or whose gradients are not wanted. The counts that `observed` reports stay.
  // Allocates nothing.
  void drop();
  // Call it when the gradients' sums over the ranks are complete (GradientBuffer::set_reduced).
  void set_reduced();
  // Call it if the step was not completed, for example because its capture failed
  // (GradientBuffer::abandon). Enqueues nothing.
  void abandon();
  // A hook calls it when a backward pass has finished parameter i's gradient. In bf16 or fp16,
  // `take` moves the gradient out of .grad. It adds the gradient at once, or queues a copy. `place`
  // later makes many queued copies in one launch. Throws Error with the parameter's name after
  // `refuse(true)`.
  void take(std::size_t i);
  // Makes the current stream wait for all work on the side stream, and makes the queued copies.
  // Call it after each backward pass, and before anything reads `flat`.
  void place();
  // Runs `work`, which may read the gradients that are in `flat` so far. If a side stream is set
  // (make_beside), `work` runs on it, and the current stream does not wait. If no side stream is
  // set, `work` runs on the current stream.
  void run_behind(const std::function<void()>& work);
  // Sets the side stream on which gradients may be computed from now on. If `side` is null, no side
  // stream is used.
  void make_beside(SideWork* side);
  void refuse(bool on) { refuses_gradients_ = on; }

 private:
  void place_taken();
  void forget_taken();

  ParameterStorage& storage_;
  at::Tensor flat_;
  std::vector<std::shared_ptr<GradientBuffer>> buffers_;  // one entry for each parameter
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
