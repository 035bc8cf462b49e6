// The failure of the first rank that failed, reported to all.
#pragma once

#include "training/distributed/process_group.h"

#include <exception>
#include <string>

namespace lockstep {

// All ranks, with a key of their own: the text of the first rank whose text is not empty, or "".
std::string first_text(ProcessGroup& group, const std::string& key, const std::string& own);

// Why a rank's work ended, and what to do about it; both are empty where no rank failed.
struct Failure {
  std::string what, hint;
};
// All ranks, with a key of their own: the failure of the first rank that has one. A rank whose own
// is no lockstep::Error throws it again, of its own type, once all have met.
Failure first_failure(ProcessGroup& group, const std::string& key, const std::exception_ptr& own);

}  // namespace lockstep
