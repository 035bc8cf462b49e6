// Says of an exception which samples it is about.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

// Called while an exception is handled. Throws it again with the samples in its message: Error with
// its hint, c10::Error and std::bad_alloc of their own type (that memory ran out is told by it),
// any other std::exception as std::runtime_error. `training`: of the training or validation data.
[[noreturn]] void rethrow_naming(const std::vector<std::int64_t>& samples, bool training);

}  // namespace lockstep
