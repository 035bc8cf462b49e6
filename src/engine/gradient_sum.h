// The gradients of a step, added up over micro-batches and ranks: in buckets during backward, or in
// one fixed order with exact = true.
#pragma once

#include "engine/arena.h"
#include "engine/exact_reducer.h"
#include "engine/process_group.h"
#include "engine/reducer.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

// In every step, on every rank: `begin_step`; for each micro-batch `begin_backward`, a backward
// pass, `end_backward`; then `finish`. The result is in the arena's gradients. One thread.
class GradientSum {
 public:
  GradientSum(Arena& arena, Reducer& reducer, ProcessGroup& group, bool exact);

  // accumulation: micro-batches of a rank in a step, the same in every step with exact = true.
  // recorded: into a graph. in_parts: Arena::zero_part does what is to be zeroed.
  void begin_step(std::int64_t accumulation, bool recorded = false, bool in_parts = false);
  // Before such a recording.
  void cut_zeros(const std::vector<std::size_t>& part_of) { arena_.cut_zeros(part_of, is_exact_); }
  // last: of the rank's in this step.
  void begin_backward(bool last);
  void end_backward(bool last);
  // Instead of the rest of the step's micro-batches, on a rank that has nothing to give: zeros are
  // sent in their stead. Allocates nothing.
  void skip_rest();
  // All ranks have sent and received everything. May be called again after it ran out of memory.
  // summed: Reducer::wait; not called where only the whole is ever there.
  void finish(const Reducer::Summed& summed = {});
  // After a step that was not carried through, as a failed recording.
  void reset();

 private:
  Arena& arena_;
  Reducer& reducer_;
  ProcessGroup& group_;
  bool is_exact_;
  std::optional<ExactReducer> exact_;  // from the first step on
};

}  // namespace lockstep
