// Makes a table of any number of trials, with the facts that differ and the measurements.
#pragma once

#include "tools/report/facts/facts.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct TrialColumn {
  std::string name;  // such as "optimizer.lr" or "best.loss"
  std::string unit;  // unit of a quantity; empty for a fact
  bool is_quantity = false;
  bool is_number = false;              // whether all known values are numbers
  std::vector<nlohmann::json> values;  // one value for each trial; null if unknown or NaN
};

struct TrialTable {
  std::vector<std::string> names, paths, states;  // one entry for each trial
  std::vector<TrialColumn> columns;               // facts that differ, followed by quantities
};

// Leaves out facts whose known values are all equal, and facts that differ with every run. Also
// leaves out facts of the kind `place`, except the devices.
TrialTable trial_table(const std::vector<Trial>& trials);

// Sorts by "name", "state" or a column in ascending order. A dash before the name, as in
// "-best.loss", means descending order. Unknown values come last. Throws Error if there is no such
// column. The error suggests the column with the nearest name.
void sort_table(TrialTable& table, const std::string& column);

// If the table is wider than `width`, the least important columns are left out. 0 means no limit.
std::string trial_table_text(const TrialTable& table, int width);
std::string trial_table_csv(const TrialTable& table);      // CSV as in RFC 4180, with all columns
nlohmann::json trial_table_json(const TrialTable& table);  // a list with an object for each trial

}  // namespace lockstep
