// An update of a table's weights that is still to come when an operation reads some of its rows.
#pragma once

#include "kernels/kernel_arguments.h"

#include <cstdint>
#include <optional>

namespace lockstep {

// Of a table's rows, what the update will make of them can be computed from what it reads.
struct OwedRows {
  AdamArguments adam;
  std::int64_t range = 0;  // of adam.ranges: begins with the table's first element
};

// Operations that read rows ask for it (owed_update_of), and call both around their reading.
class OwedUpdate {
 public:
  virtual ~OwedUpdate() = default;
  // What the current stream is given next reads rows. computes: it can compute them. Without a
  // result they are up to date.
  virtual std::optional<OwedRows> begin_read(bool computes) = 0;
  // It was given that.
  virtual void end_read() = 0;
};

}  // namespace lockstep
