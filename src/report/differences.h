// What differs between two groups of trials, and what is not comparable because of it.
#pragma once

#include "report/comparison.h"

#include <span>
#include <string>
#include <vector>

namespace lockstep {

struct Differences {
  std::vector<Difference> differences;  // what decides first
  std::vector<UnknownFact> unknown;
  std::vector<std::string> equal;
};

// Facts that are different, that are not known to be equal, and that are equal. Throws Error where
// `varied` or `assumed` name no fact of either side, with the nearest.
Differences find_differences(const TrialGroup& a, const TrialGroup& b,
                             const CompareOptions& options);

// Why a quantity is not comparable; empty: it is.
std::vector<std::string> reasons_against(const Quantity& quantity, const Differences& found,
                                         const std::string& name_a, const std::string& name_b);

// Whether the quantity is not comparable because of the difference.
bool is_in_the_way(const Difference& difference, const Quantity& quantity);
// Whether the fact says on which data, rather than with which parameters.
bool is_of_data(const std::string& fact);

// Whether "optimizer" or "optimizer.lr" names the fact "optimizer.lr"; "options" names those of
// work that are no fact of their own.
bool names_fact(const std::string& name, const std::string& fact);

// The mean of a fact that is a number on all trials of the side; NaN where it is not.
double mean_fact(const TrialGroup& group, const std::string& fact);

}  // namespace lockstep
