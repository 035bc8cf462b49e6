// Tells all ranks the error message of the lowest rank that failed.
#pragma once

#include "training/distributed/process_group.h"

#include <exception>
#include <string>

namespace lockstep {

// All ranks call it, with a key that no other call uses. own: the text of this rank. Returns the
// first text that is not empty, in rank order. Returns "" if all texts are empty.
std::string first_text(ProcessGroup& group, const std::string& key, const std::string& own);

// The message of a failure, and a hint for the user. Both are empty if no rank failed.
struct Failure {
  std::string what, hint;
};
// All ranks call it, with a key that no other call uses. own: this rank's exception, or null.
// Returns the message of the lowest rank that failed, and the first hint that is not empty, in rank
// order. If this rank's exception is not a lockstep::Error, it is rethrown unchanged after all
// ranks have sent their messages.
Failure first_failure(ProcessGroup& group, const std::string& key, const std::exception_ptr& own);

}  // namespace lockstep
