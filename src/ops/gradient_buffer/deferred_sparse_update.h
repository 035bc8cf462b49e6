// The interface to a deferred optimizer update of a sparse parameter, such as an embedding. A
// deferred update runs during the next step. So operations may read rows of the parameter before
// the update has run.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>
#include <optional>

namespace lockstep {

// The arguments from which an operation can compute the updated value of any row.
struct DeferredRows {
  AdamArguments adam;
  // The index in adam.ranges of the range that begins at the parameter's first element.
  std::int64_t range = 0;
};

// An operation that reads rows gets this object from deferred_update_of (gradient_registry.h). The
// operation calls begin_read before its work is enqueued, and end_read after that.
class DeferredSparseUpdate {
 public:
  virtual ~DeferredSparseUpdate() = default;
  // Call this before the reading work is enqueued on the current stream. `computes` says whether
  // the operation can compute updated rows itself. If the result is empty, the rows will be up to
  // date when the work runs. If the result is not empty, the operation must compute the updated
  // rows from it.
  virtual std::optional<DeferredRows> begin_read(bool computes) = 0;
  // Call this after the reading work is enqueued. The update may then begin.
  virtual void end_read() = 0;
};

}  // namespace lockstep
