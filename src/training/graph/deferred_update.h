// Updates the weights of a step at the beginning of the next step's graph, overlapped with the
// forward pass of that step.
#pragma once

#include "ops/shared/side_work.h"
#include "training/gradients/gradient_buffers.h"
#include "training/update/optimizer.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

// Adam moves many bytes and computes little. The forward pass of a small batch uses little memory
// bandwidth. So an update by Adam overlaps well with the forward pass. The weights are updated in
// groups (UpdatePlan::groups), in the order in which the forward pass uses them. Each block waits
// only for its own group and earlier groups. Parameters that are used after all blocks, such as
// heads, belong to the last block's group.
//
// A sparse parameter is one whose gradient has few rows, such as an embedding. A large sparse
// parameter is updated last, because the forward pass reads few of its rows. The operation that
// reads the parameter computes the updated values of these rows itself (DeferredSparseUpdate). This
// update overlaps with the backward pass, which needs this parameter's gradient only at its end.
//
// A DeferredUpdate exists while one graph is captured. The captured step defers its own update to
// the next step (Optimizer::before_replay). All calls must come from one thread.
class DeferredUpdate {
 public:
  // Enqueues the update of the previous step on `side`. Sparse parameters with their own group are
  // updated later on `side_of_sparse`. Each group's gradients are zero-filled after the group's
  // update. Work that is enqueued on the current stream from now on sees the updated weights of
  // group 0. All arguments must outlive this object.
  DeferredUpdate(GradientBuffers& gradients, Optimizer& optimizer, SideWork& side,
                 SideWork& side_of_sparse);
  ~DeferredUpdate();
  DeferredUpdate(const DeferredUpdate&) = delete;
  DeferredUpdate& operator=(const DeferredUpdate&) = delete;

  void wait_for(std::int64_t block);
  // Call it when a forward pass ends. The current stream waits for all groups except the groups of
  // sparse parameters. The update of sparse parameters overlaps with the backward pass until their
  // gradients are used.
  void end_forward();

 private:
  class SparseUpdate;
  const UpdatePlan& plan() const { return gradients_.plan(); }

  GradientBuffers& gradients_;
  Optimizer& optimizer_;
  SideWork &side_, &side_of_sparse_;
  // For each group below block_groups: the number that SideWork::run returned for the update of the
  // group.
  std::vector<std::int64_t> numbers_;
  std::vector<std::shared_ptr<SparseUpdate>> sparse_;
};

}  // namespace lockstep
