// Assertions about our own code; a failure is a bug of Lockstep's, never a user's mistake.
#pragma once

namespace lockstep::detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}

#define LOCKSTEP_CHECK(condition)                                                       \
  do {                                                                                  \
    if (!(condition)) ::lockstep::detail::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
