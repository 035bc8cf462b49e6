// A deferred update: the weights change at the beginning of the next step's graph, overlapped with
// its forward pass.
#pragma once

#include "ops/shared/side_work.h"
#include "training/gradients/gradient_buffers.h"
#include "training/update/optimizer.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

// Adam moves many bytes and computes little, and the forward pass of a small batch leaves the
// memory idle. So the weights are updated in the groups of the plan in use (UpdatePlan::groups), in
// the order in which forward uses them, and each block waits for its own group alone. Heads, which
// are in no block and used behind all of them, belong to the last block's group.
//
// Forward reads few rows of a sparse parameter. Its update comes last, overlapped with the backward
// pass, which uses its gradients at the very end. The operation that reads it computes what the
// update will make of these rows (DeferredSparseUpdate).
//
// Lives while one graph is captured. The update of that step itself is left to the next one
// (Optimizer::before_replay). One thread.
class DeferredUpdate {
 public:
  // Enqueues the update of the step before, on `side`: that of sparse parameters on
  // `side_of_sparse`, behind all other groups; and GradientBuffers::zero_group behind each. Work of
  // the current stream from now on sees the weights of group 0. All outlive it.
  DeferredUpdate(GradientBuffers& gradients, Optimizer& optimizer, SideWork& side,
                 SideWork& side_of_sparse);
  ~DeferredUpdate();
  DeferredUpdate(const DeferredUpdate&) = delete;
  DeferredUpdate& operator=(const DeferredUpdate&) = delete;

  void wait_for(std::int64_t block);
  // A forward pass ends. The current stream waits for all groups but sparse parameters, whose
  // update overlaps with the backward pass until something uses their gradients.
  void end_forward();

 private:
  class SparseUpdate;
  const UpdatePlan& plan() const { return gradients_.plan(); }

  GradientBuffers& gradients_;
  Optimizer& optimizer_;
  SideWork &side_, &side_of_sparse_;
  std::vector<std::int64_t> numbers_;  // by group of blocks, of the side work that ends it
  std::vector<std::shared_ptr<SparseUpdate>> sparse_;
};

}  // namespace lockstep
