// Finds faults in a term of a loss. Compares the sums of the term over three batches, and the
// weights by which these sums are divided.
#pragma once

#include <string>

namespace lockstep {

// The sum and the weight of one loss term over some rows.
struct TermNumbers {
  double sum = 0, weight = 0;
};

// The numbers of one term for three batches of the same rows. `alone` has each row once. `twice`
// has each row twice. `padded` has each row once, and a copy of it as a padding row. Statistics
// over the rows of a batch (batch norm) are the same in all three.
struct TermCases {
  TermNumbers alone, twice, padded;
};

enum class TermFault {
  none,
  mean,               // a mean instead of a sum: the weight grows with the rows, the sum does not
  sum_beside_weight,  // the sum grows with the rows, but the weight does not
  padding_in_sum,
  padding_in_weight,
};

// Returns a fault only if the numbers show it clearly. Sums that differ by at most 2 % are treated
// as equal, because low precision rounds them. Returns none if the numbers match no fault. They may
// still be wrong for another reason, such as a random loss or rows that depend on each other.
TermFault fault_of(const TermCases& term);

// Returns whether the numbers show that the term has none of these faults.
bool is_right(const TermCases& term);

// Returns a message that describes the fault of the term `name`, with the expected numbers.
std::string describe(TermFault fault, const std::string& name, const TermCases& term);

}  // namespace lockstep
