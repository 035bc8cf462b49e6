// A table of any number of trials: only facts that differ, and measurements.
#pragma once

#include "tools/report/facts/facts.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct TrialColumn {
  std::string name;  // "optimizer.lr", "best.loss"
  std::string unit;  // for a quantity
  bool is_quantity = false;
  bool is_number = false;              // all known values are numbers
  std::vector<nlohmann::json> values;  // per trial; null: unknown, NaN
};

struct TrialTable {
  std::vector<std::string> names, paths, states;  // per trial
  std::vector<TrialColumn> columns;               // differing facts, then quantities
};

// Leaves out facts of place except the devices, facts that differ with every run, and facts whose
// known values are all equal.
TrialTable trial_table(const std::vector<Trial>& trials);

// Sorts by "name", "state" or a column, ascending; "-best.loss" is descending. Unknown values come
// last. If there is no such column, throws Error that suggests the nearest.
void sort_table(TrialTable& table, const std::string& column);

std::string trial_table_text(const TrialTable& table, int width);  // width 0: unlimited
std::string trial_table_csv(const TrialTable& table);              // RFC 4180, all columns
nlohmann::json trial_table_json(const TrialTable& table);          // a list of objects

}  // namespace lockstep
