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

  // accumulation: the number of micro-batches of a rank in a step.
  virtual void begin_step(std::int64_t accumulation) = 0;
  // last: whether it is the rank's last pass in this step.
  virtual void begin_backward(bool last) = 0;
  virtual void end_backward(bool last) = 0;
  // This rank ran out of memory and has no more micro-batches to give in this step. `finish` still
  // takes part in all collectives, with values that mean nothing. Allocates nothing.
  virtual void skip_rest() = 0;
  // Sends the gradients that were not yet sent, and waits for the sums of all ranks. May be called
  // again after it ran out of memory. summed: see Reducer::wait. With one rank, and in exact mode,
  // it is never called.
  virtual void finish(const Reducer::Summed& summed) = 0;
  void finish() { finish({}); }
  // After a step that did not reach `finish`, for example a capture that failed.
  virtual void reset() = 0;
};

// Reduces in buckets during the last backward pass. Both arguments outlive the result.
std::unique_ptr<GradientReduction> make_bucket_reduction(GradientBuffers& gradients,
                                                         Reducer& reducer);
// Reduces in one fixed order, bitwise the same on any number of ranks. The accumulation must be the
// same in every step. Both arguments outlive the result.
std::unique_ptr<GradientReduction> make_exact_reduction(GradientBuffers& gradients,
                                                        ProcessGroup& group);

}  // namespace lockstep
