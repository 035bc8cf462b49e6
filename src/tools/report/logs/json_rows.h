// Turns rows of JSON objects into a table of numbers. W&B's history, trackio's metrics and
// Transformers' log have such rows.
#pragma once

#include "tools/report/logs/foreign_log.h"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

class JsonRows {
 public:
  // name: the name of the log, for messages.
  explicit JsonRows(std::string name) { table_.name = std::move(name); }

  // Adds a row. Takes numbers, true and false, and the texts "NaN", "Infinity" and "-Infinity".
  // Times may be texts. Members of objects become "KEY.MEMBER". Objects that W&B and trackio add
  // are left out: "_wandb", and pictures and tables with a "_type". Other values are left out too.
  void add(const nlohmann::json& row);
  // adds a number to the row that was added last
  void add_number(const std::string& name, double value);
  std::uint32_t rows() const { return table_.rows; }
  ForeignTable take() &&;

 private:
  void add_members(const nlohmann::json& object, const std::string& before);

  ForeignTable table_;
  std::map<std::string, std::size_t> columns_;  // the column's index in the table, by name
};

}  // namespace lockstep
