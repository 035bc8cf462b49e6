// How the gradients of a step's micro-batches and ranks become one sum.
#pragma once

#include "training/distributed/process_group.h"
#include "training/gradients/gradient_buffers.h"
#include "training/gradients/reducer.h"

#include <cstdint>
#include <memory>

namespace lockstep {

// In every step, on every rank: `begin_step`; for each micro-batch `begin_backward`, a backward
// pass, `end_backward`; then `finish`. The sum of parameter i is then in
// GradientBuffers::sums_of(i). One thread.
class GradientReduction {
 public:
  virtual ~GradientReduction() = default;

  // accumulation: micro-batches of a rank in a step.
  virtual void begin_step(std::int64_t accumulation) = 0;
  // last: of the rank's in this step.
  virtual void begin_backward(bool last) = 0;
  virtual void end_backward(bool last) = 0;
  // This rank ran out of memory and has no more micro-batches to give in this step. `finish` still
  // takes part in all collectives, with values that mean nothing. Allocates nothing.
  virtual void skip_rest() = 0;
  // Sends what is left and waits for all ranks' sums. May be called again after it ran out of
  // memory. summed: see Reducer::wait; with one rank and in exact mode it is never called.
  virtual void finish(const Reducer::Summed& summed) = 0;
  void finish() { finish({}); }
  // After a step that did not reach `finish`, for example a capture that failed.
  virtual void reset() = 0;
};

// In buckets during the last backward pass. All outlive it.
std::unique_ptr<GradientReduction> make_bucket_reduction(GradientBuffers& gradients,
                                                         Reducer& reducer);
// In one fixed order, the same to the bit on any number of ranks. The accumulation is the same in
// every step. All outlive it.
std::unique_ptr<GradientReduction> make_exact_reduction(GradientBuffers& gradients,
                                                        ProcessGroup& group);

}  // namespace lockstep
