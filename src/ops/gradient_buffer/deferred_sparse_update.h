// A deferred update of a sparse parameter, still to come when an operation reads some of its rows.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>
#include <optional>

namespace lockstep {

// Enough to compute any row of the parameter as the update will leave it.
struct DeferredRows {
  AdamArguments adam;
  std::int64_t range = 0;  // index in adam.ranges, of one that begins with the first element
};

// An operation that reads rows asks for it (deferred_update_of) and calls both around its reading.
class DeferredSparseUpdate {
 public:
  virtual ~DeferredSparseUpdate() = default;
  // Before work that reads rows is enqueued on the current stream. computes: the operation can
  // compute rows. Without a result the rows will be up to date when the work runs.
  virtual std::optional<DeferredRows> begin_read(bool computes) = 0;
  // After it was enqueued: the update may begin.
  virtual void end_read() = 0;
};

}  // namespace lockstep
