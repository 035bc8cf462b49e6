// Tells all ranks about the failure of the first rank that failed.
#pragma once

#include "training/distributed/process_group.h"

#include <exception>
#include <string>

namespace lockstep {

// All ranks call it, with a key that no other call uses. Returns the text of the first rank whose
// text is not empty, or "".
std::string first_text(ProcessGroup& group, const std::string& key, const std::string& own);

// Why a rank's work ended, and what to do about it; both are empty where no rank failed.
struct Failure {
  std::string what, hint;
};
// All ranks call it, with a key that no other call uses. Returns the failure of the first rank that
// has one. If a rank's own exception is not a lockstep::Error, this rank rethrows it unchanged,
// after all ranks have met.
Failure first_failure(ProcessGroup& group, const std::string& key, const std::exception_ptr& own);

}  // namespace lockstep
