// Differences between two groups of trials, and the quantities that they make incomparable.
#pragma once

#include "tools/report/comparison/comparison.h"

#include <span>
#include <string>
#include <vector>

namespace lockstep {

struct Differences {
  std::vector<Difference> differences;  // the most decisive first
  std::vector<UnknownFact> unknown;
  std::vector<std::string> equal;
};

// Sorts facts into three lists: those that differ, those that are not known to be equal, and those
// that are equal. If `varied` or `assumed` name no fact of either side, throws Error that suggests
// the nearest fact.
Differences find_differences(const TrialGroup& a, const TrialGroup& b,
                             const CompareOptions& options);

// Why a quantity is not comparable; empty if it is.
std::vector<std::string> reasons_against(const Quantity& quantity, const Differences& found,
                                         const std::string& name_a, const std::string& name_b);

// Whether the difference makes the quantity incomparable.
bool is_in_the_way(const Difference& difference, const Quantity& quantity);
// Whether the fact identifies the data rather than parameters.
bool is_of_data(const std::string& fact);

// Whether the name means the fact: "optimizer" and "optimizer.lr" mean "optimizer.lr".
bool names_fact(const std::string& name, const std::string& fact);

// The mean of a fact over the trials of a side, if it is a number in all of them; otherwise NaN.
double mean_fact(const TrialGroup& group, const std::string& fact);

}  // namespace lockstep
