// Tells all ranks why the first rank that failed has failed.
#pragma once

#include "training/distributed/process_group.h"

#include <exception>
#include <string>

namespace lockstep {

// All ranks call it, with a key that no other call uses. Returns the first text that is not empty,
// in rank order. Returns "" if all texts are empty.
std::string first_text(ProcessGroup& group, const std::string& key, const std::string& own);

// The message of a failure, and a hint for the user. Both are empty if no rank failed.
struct Failure {
  std::string what, hint;
};
// All ranks call it, with a key that no other call uses. own: this rank's exception, or null.
// Returns the message of the first rank that failed, and the first hint that is not empty. If this
// rank's exception is not a lockstep::Error, it is rethrown unchanged after all ranks have met.
Failure first_failure(ProcessGroup& group, const std::string& key, const std::exception_ptr& own);

}  // namespace lockstep
