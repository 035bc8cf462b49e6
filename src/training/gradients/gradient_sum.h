// The gradients of a step, added up over micro-batches and ranks: in buckets during backward, or in
// one fixed order with exact = true.
#pragma once

#include "training/distributed/process_group.h"
#include "training/gradients/exact_reducer.h"
#include "training/gradients/gradient_buffers.h"
#include "training/gradients/reducer.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

// In every step, on every rank: `begin_step`; for each micro-batch `begin_backward`, a backward
// pass, `end_backward`; then `finish`. The sum of parameter i is then in
// GradientBuffers::sums_of(i). One thread.
class GradientSum {
 public:
  GradientSum(GradientBuffers& gradients, Reducer& reducer, ProcessGroup& group, bool exact);

  // accumulation: micro-batches of a rank in a step, the same in every step with exact = true.
  // recorded: while a graph is captured. in_parts: nothing is zero-filled here; the caller does it
  // later, with GradientBuffers::zero_part for each update group.
  void begin_step(std::int64_t accumulation, bool recorded = false, bool in_parts = false);
  // Before such a capture. part_of: the update group of each parameter.
  void cut_zeros(const std::vector<std::size_t>& part_of) {
    gradients_.cut_zeros(part_of, is_exact_);
  }
  // last: of the rank's in this step.
  void begin_backward(bool last);
  void end_backward(bool last);
  // This rank ran out of memory and has no more micro-batches to give in this step. `finish` still
  // takes part in all collectives, with values that mean nothing. Allocates nothing.
  void skip_rest();
  // Sends what is left and waits for all ranks' sums. May be called again after it ran out of
  // memory. summed: see Reducer::wait; with one rank and in exact mode it is never called.
  void finish(const Reducer::Summed& summed = {});
  // After a step that did not reach `finish`, for example a capture that failed.
  void reset();

 private:
  GradientBuffers& gradients_;
  Reducer& reducer_;
  ProcessGroup& group_;
  bool is_exact_;
  std::optional<ExactReducer> exact_;  // from the first step on
};

}  // namespace lockstep
