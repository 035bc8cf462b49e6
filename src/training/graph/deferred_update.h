// A deferred update. The weights change at the beginning of the next step's graph, and this update
// overlaps with the forward pass of that step.
#pragma once

#include "ops/shared/side_work.h"
#include "training/gradients/gradient_buffers.h"
#include "training/update/optimizer.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

// Adam moves many bytes and computes little, while the forward pass of a small batch uses little
// memory bandwidth. So the two overlap well. The weights are updated in the groups of the plan in
// use (UpdatePlan::groups), in the order in which the forward pass uses them. Each block waits for
// its own group only. Heads are in no block and are used after all blocks. They belong to the last
// block's group.
//
// The forward pass reads few rows of a sparse parameter. The update of this parameter comes last.
// It overlaps with the backward pass, which adds this parameter's gradient at its very end. The
// operation that reads the parameter computes the updated values of these rows itself
// (DeferredSparseUpdate).
//
// Exists while one graph is captured. The captured step defers its own update to the next step
// (Optimizer::before_replay). One thread.
class DeferredUpdate {
 public:
  // Enqueues the update of the previous step on `side`. The update of sparse parameters goes to
  // `side_of_sparse`, after all other groups. GradientBuffers::zero_group follows the update of
  // each group. Work enqueued on the current stream from now on sees the updated weights of group
  // 0. All arguments outlive this object.
  DeferredUpdate(GradientBuffers& gradients, Optimizer& optimizer, SideWork& side,
                 SideWork& side_of_sparse);
  ~DeferredUpdate();
  DeferredUpdate(const DeferredUpdate&) = delete;
  DeferredUpdate& operator=(const DeferredUpdate&) = delete;

  void wait_for(std::int64_t block);
  // A forward pass ends. The current stream waits for all groups except sparse parameters. Their
  // update overlaps with the backward pass until something uses their gradients.
  void end_forward();

 private:
  class SparseUpdate;
  const UpdatePlan& plan() const { return gradients_.plan(); }

  GradientBuffers& gradients_;
  Optimizer& optimizer_;
  SideWork &side_, &side_of_sparse_;
  std::vector<std::int64_t> numbers_;  // by block group: the number of the side work that ends its
                                       // update
  std::vector<std::shared_ptr<SparseUpdate>> sparse_;
};

}  // namespace lockstep
