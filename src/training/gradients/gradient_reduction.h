// Sums the gradients of a step over micro-batches and ranks, in buckets or in exact mode (option
// exact).
#pragma once

#include "training/distributed/process_group.h"
#include "training/gradients/gradient_buffers.h"
#include "training/gradients/reducer.h"

#include <cstdint>
#include <memory>

namespace lockstep {

// In every step, every rank calls `begin_step`. For each micro-batch, the rank calls
// `begin_backward`, runs a backward pass, and calls `end_backward`. After the last micro-batch, the
// rank calls `finish`. The sum of parameter i is then in GradientBuffers::sums_of(i). All calls
// must come from one thread.
class GradientReduction {
 public:
  virtual ~GradientReduction() = default;

  // accumulation: the number of micro-batches that a rank has in this step.
  virtual void begin_step(std::int64_t accumulation) = 0;
  // last: whether this is the rank's last backward pass in the step.
  virtual void begin_backward(bool last) = 0;
  virtual void end_backward(bool last) = 0;
  // Call it if this rank ran out of memory and computes no more micro-batches in this step.
  // `finish` then still takes part in all collectives, with meaningless values. Allocates nothing.
  virtual void skip_rest() = 0;
  // Sends the gradients that were not sent yet, and waits for the sums over the ranks. It may be
  // called again after it ran out of memory. summed: see Reducer::wait; the function is not called
  // with one rank or in exact mode.
  virtual void finish(const Reducer::Summed& summed) = 0;
  void finish() { finish({}); }
  // Call it after a step that did not complete `finish`, for example because its capture failed.
  virtual void reset() = 0;
};

// Returns a reduction in buckets, which overlaps with the last backward pass. Both arguments must
// outlive the result.
std::unique_ptr<GradientReduction> make_bucket_reduction(GradientBuffers& gradients,
                                                         Reducer& reducer);
// Returns a reduction in one fixed order (ExactReducer). Its sums are bitwise the same on any
// number of ranks. The accumulation must be the same in every step. Both arguments must outlive the
// result.
std::unique_ptr<GradientReduction> make_exact_reduction(GradientBuffers& gradients,
                                                        ProcessGroup& group);

}  // namespace lockstep
