// Finds what is wrong with a term of a loss, from its numbers alone.
#pragma once

#include <string>

namespace lockstep {

// Sum and weight of one term over some rows.
struct TermNumbers {
  double sum = 0, weight = 0;
};

// The same term over the same rows in three cases: each row once, each row twice, and each row once
// more as padding. Statistics over the rows of a batch (batch norm) are therefore the same each
// time.
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

// Returns only faults that the numbers prove. Sums may differ by 2 %, as they do in low precision.
// Returns none for a term that fits no pattern, for example because its rows depend on each other
// or because something is random.
TermFault fault_of(const TermCases& term);

// Returns whether the numbers show that the term is right.
bool is_right(const TermCases& term);

// Says in words what is wrong with the term of that name, and what would be right.
std::string describe(TermFault fault, const std::string& name, const TermCases& term);

}  // namespace lockstep
