// A deferred update: the weights change at the beginning of the next step's graph, overlapped with
// its forward pass.
#pragma once

#include "ops/shared/side_work.h"
#include "training/gradients/gradient_buffers.h"
#include "training/update/optimizer.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace lockstep {

// Adam moves many bytes and computes little, and the forward pass of a small batch leaves the
// memory idle. So the weights are updated in groups ("parts"), in the order in which forward uses
// them: what is in no block (StepContext::block), then block by block. Each block waits for its own
// group alone. Heads, which are in no block and used behind all of them, belong to the last group.
//
// Forward reads few rows of a sparse parameter ("table"). Its update comes last, overlapped with
// the backward pass, which uses its gradients at the very end. The operation that reads it computes
// what the update will make of these rows (OwedUpdate).
//
// A graph that begins with an update leaves that of its own step to do ("owed"). The next such
// graph does it, or `settle`. One thread.
class DeferredUpdate {
 public:
  // may: whether the options allow it. It is never deferred with a sharded optimizer or an average
  // of the weights, because those follow the update at once.
  DeferredUpdate(GradientBuffers& gradients, Optimizer& optimizer, bool may);
  ~DeferredUpdate();
  DeferredUpdate(const DeferredUpdate&) = delete;
  DeferredUpdate& operator=(const DeferredUpdate&) = delete;

  // In a step that is not captured: notes which parameters each block uses, and the order of
  // blocks.
  void begin_forward();
  void see(std::int64_t block, const std::vector<at::Tensor>& parameters);
  // Makes the groups from what was seen, once. False where updates are never deferred or no block
  // was seen.
  bool cut();
  // Moves sparse parameters into the first group, which is right where more than one operation
  // reads them. False: they were there already.
  bool cut_tables_early();
  // Moves all that is in no block into the first group, also what seemed to be used late. False: it
  // was there already.
  bool cut_early();
  const std::vector<std::size_t>& part_of() const { return part_of_; }  // by parameter
  using BeforeBlock = std::function<void(std::int64_t)>;
  // A trial: whether `forward` uses the weights of a group no earlier than the group's block
  // begins. It is called twice, the second time with other weights in place of those whose block
  // has not begun. forward(before_block) must call before_block(number) where a block begins; it
  // returns its results on the device, which are compared.
  bool waits_for_blocks(const std::function<at::Tensor(const BeforeBlock&)>& forward);
  // After that: whether each sparse parameter was read once, by an operation that can compute rows.
  bool reads_tables_well() const;
  // After trials that failed: no graph will begin with an update, and all weights are one group.
  // Does nothing where some graph begins with one already.
  void give_up();

  // In a capture: enqueues the update of the step before, on `side`; that of sparse parameters on
  // `side_of_tables`, behind all other groups; and after_part(group) behind each. Work of the
  // current stream from now on sees the weights of the first group.
  void enqueue(SideWork& side, SideWork& side_of_tables,
               const std::function<void(std::size_t)>& after_part);
  void wait_for(std::int64_t block);
  // A forward pass ends. The current stream waits for all groups but sparse parameters, whose
  // update overlaps with the backward pass until something uses their gradients.
  void wait_for_blocks();
  // The capture is over, or failed.
  void end_recording();

  // Before a graph is replayed. begins: whether it begins with an update. One that does not is
  // preceded by `settle`. Where no update is owed, that of the graph changes nothing.
  void before_replay(bool begins);
  // Does the owed update now: all work enqueued from now on sees the weights of the last step. It
  // reads the gradients, so it must come before they are zero-filled for the next step.
  void settle();

 private:
  class HiddenWeights;
  class Table;
  class Trial;
  void cut_tables();
  std::size_t part_of_block(std::int64_t block) const;
  std::vector<std::int64_t> uses() const;

  ParameterStorage& storage_;
  GradientBuffers& gradients_;
  Optimizer& optimizer_;
  bool may_;
  bool owed_ = false, serves_ = false;  // serves: some graph begins with an update
  std::vector<std::int64_t> order_;     // blocks as they came
  std::map<std::int64_t, std::vector<std::size_t>> parameters_;  // by block
  // By parameter: references to the node that ends its gradient, when the forward pass began; and
  // whether there were more when the last block began.
  std::vector<std::int64_t> uses_;
  std::vector<bool> is_early_;
  std::vector<std::size_t> part_of_;
  std::size_t parts_of_blocks_ = 1;             // the first parts; each of the others is a table
  std::vector<std::unique_ptr<Table>> tables_;  // by part
  HiddenWeights* hidden_ = nullptr;             // in a trial
  // The side streams of the capture under way.
  SideWork *side_ = nullptr, *side_of_tables_ = nullptr;
  std::function<void(std::size_t)> after_part_;
  std::vector<std::int64_t> numbers_;  // by part of blocks, of the side work that ends it
};

}  // namespace lockstep
