// Turns rows of JSON objects into a table of numbers: W&B's history, trackio's metrics,
// Transformers' log.
#pragma once

#include "tools/report/logs/foreign_log.h"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

class JsonRows {
 public:
  // name: for messages.
  explicit JsonRows(std::string name) { table_.name = std::move(name); }

  // Takes numbers, also "NaN" and "Infinity" as texts; times may be texts. Objects become
  // "KEY.MEMBER", except those of W&B and trackio themselves ("_wandb", pictures and tables with a
  // "_type"). Other values are left out.
  void add(const nlohmann::json& row);
  void add_number(const std::string& name, double value);  // to the row added last
  std::uint32_t rows() const { return table_.rows; }
  ForeignTable take() &&;

 private:
  void add_members(const nlohmann::json& object, const std::string& before);

  ForeignTable table_;
  std::map<std::string, std::size_t> columns_;  // by name: the column's index in the table
};

}  // namespace lockstep
