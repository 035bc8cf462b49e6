// A deferred update of a sparse parameter. It is not yet made when an operation reads some rows of
// the parameter.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>
#include <optional>

namespace lockstep {

// The data from which the updated value of any row can be computed.
struct DeferredRows {
  AdamArguments adam;
  std::int64_t range = 0;  // index in adam.ranges of the range that begins with the parameter's
                           // first element
};

// An operation that reads rows gets it from deferred_update_of, and calls `begin_read` and
// `end_read` around its reading.
class DeferredSparseUpdate {
 public:
  virtual ~DeferredSparseUpdate() = default;
  // Call it before work that reads rows is enqueued on the current stream. computes: whether the
  // operation can compute updated rows itself. If the result is empty, the rows will be up to date
  // when the work runs.
  virtual std::optional<DeferredRows> begin_read(bool computes) = 0;
  // Call it after the work is enqueued. The update may then begin.
  virtual void end_read() = 0;
};

}  // namespace lockstep
