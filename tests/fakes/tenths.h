// Tests that are long by nature (random kills, a power loss after each write, every combination of
// options) run a tenth of their cases, and another tenth at each commit: scripts/test.sh sets
// LOCKSTEP_TEST_TENTH to 0 to 9. All of them run by `make test-all`, and where the variable is not
// set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace lockstep::testing {

// Which tenth this run has, 0 to 9; -1 for all of them.
inline int tenth() {
  const char* const text = std::getenv("LOCKSTEP_TEST_TENTH");
  return text == nullptr || std::string_view(text) == "all" ? -1 : std::atoi(text);
}

// Whether this run has the case with this number.
inline bool has_turn(std::size_t number) {
  return tenth() < 0 || number % 10 == static_cast<std::size_t>(tenth());
}

// The same of cases that are shorter, of which two tenths run.
inline bool has_turn_twice(std::size_t number) { return has_turn(number) || has_turn(number + 5); }

// Why a test without a case in this run is skipped.
inline constexpr const char* in_another_tenth =
    "in another tenth of the long tests; make test-all runs all of them";

// How many of so many random cases this run has, `least` at least; their seed is to differ by
// tenth().
inline int share_of_turn(int cases, int least = 1) {
  return tenth() < 0 ? cases : std::max(least, cases / 10);
}

}  // namespace lockstep::testing
