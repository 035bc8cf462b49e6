// Any number of trials as a table: only what differs, and what was measured.
#pragma once

#include "report/facts.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct TrialColumn {
  std::string name;  // "optimizer.lr", "best.loss"
  std::string unit;  // of a quantity
  bool is_quantity = false;
  bool is_number = false;              // all that is known of it are numbers
  std::vector<nlohmann::json> values;  // per trial; null: not known, NaN
};

struct TrialTable {
  std::vector<std::string> names, paths, states;  // per trial
  std::vector<TrialColumn> columns;               // facts that differ, then quantities
};

// Facts of place are left out but for the devices; so are those that differ with every run, and
// those of which all that is known is equal.
TrialTable trial_table(const std::vector<Trial>& trials);

// By "name", "state" or a column, ascending; "-best.loss": descending. What is not known comes
// last. Throws Error naming the nearest.
void sort_table(TrialTable& table, const std::string& column);

std::string trial_table_text(const TrialTable& table, int width);  // 0: as wide as it is
std::string trial_table_csv(const TrialTable& table);              // RFC 4180, everything
nlohmann::json trial_table_json(const TrialTable& table);          // a list of objects

}  // namespace lockstep
