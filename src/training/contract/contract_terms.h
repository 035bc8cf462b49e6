// Finds what is wrong with a term of a loss, from its numbers alone.
#pragma once

#include <string>

namespace lockstep {

// Sum and weight of one term over some rows.
struct TermNumbers {
  double sum = 0, weight = 0;
};

// The same term over the same rows: alone; with each row twice; and with each row once more as
// padding. So statistics over the rows of a batch (batch norm) are the same each time.
struct TermCases {
  TermNumbers alone, twice, padded;
};

enum class TermFault {
  none,
  mean,               // the sum does not grow with the rows, but its weight does
  sum_beside_weight,  // the sum grows with the rows, but its weight does not
  padding_in_sum,
  padding_in_weight,
};

// Only what the numbers leave no doubt of: sums may differ by 2 %, as in short types. A term that
// fits none of the patterns (whose rows see each other, or where something is random) has none.
TermFault fault_of(const TermCases& term);

// Whether the numbers say that the term is right.
bool is_right(const TermCases& term);

// In words: what is wrong with the term of that name, and what it should be.
std::string describe(TermFault fault, const std::string& name, const TermCases& term);

}  // namespace lockstep
