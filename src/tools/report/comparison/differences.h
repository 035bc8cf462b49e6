// Finds the differences between two groups of trials, and the quantities that cannot be compared
// because of them.
#pragma once

#include "tools/report/comparison/comparison.h"

#include <span>
#include <string>
#include <vector>

namespace lockstep {

struct Differences {
  // the differences that affect the conclusion most come first
  std::vector<Difference> differences;
  std::vector<UnknownFact> unknown;
  std::vector<std::string> equal;
};

// Sorts facts into three lists: facts that differ, facts that are not known to be equal, and facts
// that are equal. Throws Error if `varied` or `assumed` of the options name an unknown fact. The
// error suggests the fact with the nearest name.
Differences find_differences(const TrialGroup& a, const TrialGroup& b,
                             const CompareOptions& options);

// Returns the reasons why a quantity cannot be compared. The list is empty if it can be compared.
std::vector<std::string> reasons_against(const Quantity& quantity, const Differences& found,
                                         const std::string& name_a, const std::string& name_b);

// Whether the quantity cannot be compared because of this difference.
bool is_in_the_way(const Difference& difference, const Quantity& quantity);
// Whether the fact identifies the data. Other facts of the kind `work` are parameters.
bool is_of_data(const std::string& fact);

// Whether the name stands for the fact. For example, "optimizer" and "optimizer.lr" both stand for
// "optimizer.lr".
bool names_fact(const std::string& name, const std::string& fact);

// Returns the mean of a fact over the trials of a side. Returns NaN unless the fact is a number in
// all of them.
double mean_fact(const TrialGroup& group, const std::string& fact);

}  // namespace lockstep
