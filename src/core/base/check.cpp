// Ends the process when an invariant is broken, and prints the condition and its place in the code.
#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace lockstep::detail {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "lockstep: internal error: %s does not hold at %s:%d\n", condition, file,
               line);
  std::fflush(stderr);
  std::abort();
}

void call_refused(const char* call, const char* name, const char* state, const char* condition,
                  const char* file, int line) {
  std::fprintf(stderr,
               "lockstep: internal error: %s of %s, which is %s: %s does not hold at %s:%d\n", call,
               name, state, condition, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace lockstep::detail
