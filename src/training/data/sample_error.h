// Puts the numbers of the samples that caused an exception into the exception's message.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

// Call it in a catch block. Rethrows the exception with the samples in its message. An Error or a
// class derived from it becomes an Error with the same hint. c10::Error keeps its type. Any other
// std::exception becomes std::runtime_error. Only std::bad_alloc is rethrown unchanged, because its
// type says that memory ran out. training: true for samples of the training data, false for the
// validation data.
[[noreturn]] void rethrow_naming(const std::vector<std::int64_t>& samples, bool training);

}  // namespace lockstep
