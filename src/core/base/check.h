// Assertions about Lockstep's own code. A failure is a bug in Lockstep, never a user's mistake.
#pragma once

namespace lockstep::detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
[[noreturn]] void call_refused(const char* call, const char* name, const char* state,
                               const char* condition, const char* file, int line);
}  // namespace lockstep::detail

#define LOCKSTEP_CHECK(condition)                                                       \
  do {                                                                                  \
    if (!(condition)) ::lockstep::detail::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)

// The same, for use in a method of an object. The message also contains the name of the method, and
// the object's name and state. name, state: C strings, which are evaluated only if the condition is
// false.
#define LOCKSTEP_CHECK_CALL(condition, name, state)                                            \
  do {                                                                                         \
    if (!(condition))                                                                          \
      ::lockstep::detail::call_refused(__func__, name, state, #condition, __FILE__, __LINE__); \
  } while (false)
