// A step's update of the weights as the beginning of the next step's graph, beside its forward
// pass.
#pragma once

#include "engine/arena.h"
#include "engine/optimizer.h"
#include "kernels/side_work.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace lockstep {

// Adam moves many bytes and computes little, and the forward pass of a small batch leaves the
// memory idle. So the weights are updated in parts in the order in which forward uses them: what is
// in no block (StepContext::block), then block by block, and each block waits for its own part
// alone. What is in no block and used behind them is updated with the last one.
//
// A table of which forward reads few rows is updated last, beside the backward pass, which uses its
// gradients at the very end: the operation computes what it will become of these rows (OwedUpdate).
//
// A graph with such a beginning leaves the update of its own step owed. It is made by the next such
// graph, or by `settle`. One thread.
class DeferredUpdate {
 public:
  // may: the options let it be.
  DeferredUpdate(Arena& arena, Optimizer& optimizer, bool may);
  ~DeferredUpdate();
  DeferredUpdate(const DeferredUpdate&) = delete;
  DeferredUpdate& operator=(const DeferredUpdate&) = delete;

  // In a step that is not recorded: which parameters each block uses, and in which order.
  void begin_forward();
  void see(std::int64_t block, const std::vector<at::Tensor>& parameters);
  // The parts are what was seen. False where there is nothing to gain.
  bool cut();
  // Tables are of the first part too, which is right where more than one operation reads them.
  // False: they were.
  bool cut_tables_early();
  // All that is in no block is of the first part, also what seemed to be used late. False: it was.
  bool cut_early();
  const std::vector<std::size_t>& part_of() const { return part_of_; }  // by parameter
  // Whether `forward` uses the weights of a part no earlier than its block does: it is called
  // twice, the second time with weights that are no numbers until their block begins.
  // forward(before_block) calls before_block(number) where a block begins, and gives numbers on the
  // device.
  // Where it does not, and no graph begins with an update: none will, and weights are one part.
  void give_up();
  using BeforeBlock = std::function<void(std::int64_t)>;
  bool waits_for_blocks(const std::function<at::Tensor(const BeforeBlock&)>& forward);
  // After that: whether each table was read once, by an operation that can compute its rows.
  bool reads_tables_well() const;

  // In a recording: the owed update by `side`, that of tables by `side_of_tables` behind all other
  // parts, and after_part(part) behind each. Work of the current stream from now on sees the first
  // part.
  void enqueue(SideWork& side, SideWork& side_of_tables,
               const std::function<void(std::size_t)>& after_part);
  void wait_for(std::int64_t block);
  // A forward pass ends: all weights but those of tables, whose update goes on beside the backward
  // pass until somebody uses their gradients.
  void wait_for_blocks();
  // The recording is over, or failed.
  void end_recording();

  // Before a graph is replayed. begins: with an update.
  void before_replay(bool begins);
  // All work enqueued from now on sees the weights of the last step.
  void settle();

 private:
  class HiddenWeights;
  class Table;
  class Trial;
  void cut_tables();
  std::size_t part_of_block(std::int64_t block) const;
  std::vector<std::int64_t> uses() const;

  Arena& arena_;
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
  // Of the recording under way.
  SideWork *side_ = nullptr, *side_of_tables_ = nullptr;
  std::function<void(std::size_t)> after_part_;
  std::vector<std::int64_t> numbers_;  // by part of blocks, of the side work that ends it
};

}  // namespace lockstep
