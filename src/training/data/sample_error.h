// Adds to an exception which samples it concerns.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

// Call it while an exception is handled. Rethrows it with the samples in its message. Error keeps
// its hint. c10::Error and std::bad_alloc keep their type, because the type tells that memory ran
// out. Any other std::exception becomes std::runtime_error. `training`: true for samples of the
// training data, false for samples of the validation data.
[[noreturn]] void rethrow_naming(const std::vector<std::int64_t>& samples, bool training);

}  // namespace lockstep
