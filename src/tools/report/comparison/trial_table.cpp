#include "tools/report/comparison/trial_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"

namespace lockstep {
namespace {

using nlohmann::json;

// Whether the fact differs between any two runs, or follows from facts that are shown.
bool is_left_out(const std::string& key, FactKind kind) {
  static const std::set<std::string> keys = {"started",
                                             "note",
                                             "state",
                                             "options",
                                             "flops_per_step",
                                             "epochs",
                                             "flops_per_sample",
                                             "planned_steps",
                                             "busy_percent",
                                             "device_count",
                                             "code",
                                             "lockstep",
                                             "torch",
                                             "job_list",
                                             "micro_batch",
                                             "accumulation"};
  if (keys.contains(key)) return true;
  if (kind == FactKind::place) return key != "devices";
  return false;
}

std::vector<TrialColumn> fact_columns(const std::vector<Trial>& trials) {
  std::map<std::string, FactKind> keys;
  for (const Trial& trial : trials)
    for (const auto& [key, fact] : trial.facts)
      if (!is_left_out(key, fact.kind)) keys.emplace(key, fact.kind);
  std::vector<TrialColumn> columns;
  for (const auto& [key, kind] : keys) {
    TrialColumn column{.name = key};
    for (const Trial& trial : trials) column.values.push_back(trial.value(key));
    json known;  // an unknown value differs from nothing
    if (std::all_of(column.values.begin(), column.values.end(), [&](const json& value) {
          if (known.is_null()) known = value;
          return value.is_null() || value == known;
        }))
      continue;
    columns.push_back(std::move(column));
  }
  return columns;
}

std::vector<TrialColumn> quantity_columns(const std::vector<Trial>& trials) {
  std::vector<TrialColumn> columns;
  std::map<std::string, std::size_t> places;
  for (std::size_t row = 0; row < trials.size(); ++row)
    for (const Quantity& quantity : trials[row].quantities) {
      const auto [place, is_new] = places.emplace(quantity.name, columns.size());
      if (is_new)
        columns.push_back({.name = quantity.name,
                           .unit = quantity.unit,
                           .is_quantity = true,
                           .values = std::vector<json>(trials.size())});
      if (std::isfinite(quantity.value)) columns[place->second].values[row] = quantity.value;
    }
  return columns;
}

std::string cell_text(const TrialColumn& column, std::size_t row) {
  const json& value = column.values[row];
  if (value.is_null()) return "-";
  if (column.is_quantity) return quantity_text(value.get<double>(), column.unit);
  constexpr int widest = 40;
  return cut_cells(clean_cells(fact_text(value)), widest, "…");
}

// The weight of a column. If the screen is too narrow, columns with the lowest weight are removed
// first.
int weight_of(const TrialColumn& column) {
  if (!column.is_quantity) return column.name.starts_with("asked.") ? 2 : 8;
  if (column.name.starts_with("best.")) return column.name.ends_with("loss") ? 9 : 6;
  if (column.name.starts_with("last.") || column.name == "train_loss") return 5;
  return column.name == "step_s" || column.name == "wall_s" ? 7 : column.name == "train_s" ? 4 : 3;
}

std::string csv_value(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return csv_cell(value.get<std::string>());
  return csv_cell(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

// Null values are unknown, and come last in both directions.
bool comes_before(const json& a, const json& b, bool descending) {
  if (a.is_null() || b.is_null()) return !a.is_null() && b.is_null();
  return descending ? b < a : a < b;
}

template <class Item>
void reorder(std::vector<Item>& items, const std::vector<std::size_t>& order) {
  std::vector<Item> sorted;
  for (const std::size_t i : order) sorted.push_back(std::move(items[i]));
  items = std::move(sorted);
}

const std::vector<json> values_by_name(const TrialTable& table, const std::string& name) {
  if (name == "name") return {table.names.begin(), table.names.end()};
  if (name == "state") return {table.states.begin(), table.states.end()};
  std::vector<std::string> known = {"name", "state"};
  for (const TrialColumn& column : table.columns) {
    if (column.name == name) return column.values;
    known.push_back(column.name);
  }
  const std::string near = nearest(name, known);
  throw Error(cat("there is no column ", printable(name), " to sort by"),
              near.empty() ? cat("columns: ", join(known, ", ")) : cat("did you mean ", near, "?"));
}

struct ShownColumn {
  int weight = 0;
  bool right = false;
  std::vector<std::string> cells;  // the header comes first
  int width() const {
    int most = 0;
    for (const std::string& cell : cells) most = std::max(most, cells_of(cell));
    return most;
  }
};

}  // namespace

TrialTable trial_table(const std::vector<Trial>& trials) {
  TrialTable table;
  for (const Trial& trial : trials) {
    table.names.push_back(trial.name);
    table.paths.push_back(trial.path);
    table.states.push_back(trial.state.empty() ? trial.source : trial.state);
  }
  if (trials.empty()) return table;
  table.columns = fact_columns(trials);
  for (TrialColumn& column : quantity_columns(trials)) table.columns.push_back(std::move(column));
  for (TrialColumn& column : table.columns)
    column.is_number =
        std::all_of(column.values.begin(), column.values.end(),
                    [](const json& value) { return value.is_null() || value.is_number(); });
  return table;
}

void sort_table(TrialTable& table, const std::string& column) {
  const bool descending = column.starts_with('-');
  const std::vector<json> values = values_by_name(table, descending ? column.substr(1) : column);
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return comes_before(values[a], values[b], descending);
  });
  reorder(table.names, order);
  reorder(table.paths, order);
  reorder(table.states, order);
  for (TrialColumn& each : table.columns) reorder(each.values, order);
}

std::string trial_table_text(const TrialTable& table, int width) {
  std::vector<ShownColumn> shown = {{.weight = 100, .cells = {"NAME"}},
                                    {.weight = 10, .cells = {"STATE"}}};
  for (std::size_t row = 0; row < table.names.size(); ++row) {
    shown[0].cells.push_back(clean_cells(table.names[row]));
    shown[1].cells.push_back(table.states[row]);
  }
  for (const TrialColumn& column : table.columns) {
    ShownColumn cells{.weight = weight_of(column),
                      .right = column.is_number,
                      .cells = {clean_cells(column.name)}};
    for (std::size_t row = 0; row < table.names.size(); ++row)
      cells.cells.push_back(cell_text(column, row));
    shown.push_back(std::move(cells));
  }
  int needed = -2;
  for (const ShownColumn& column : shown) needed += column.width() + 2;
  std::size_t left_out = 0;
  while (width > 0 && needed > width && shown.size() > 2) {
    const auto least = std::min_element(
        shown.rbegin(), shown.rend(),
        [](const ShownColumn& a, const ShownColumn& b) { return a.weight < b.weight; });
    needed -= least->width() + 2;
    shown.erase(std::next(least).base());
    ++left_out;
  }
  std::vector<int> widths;
  for (const ShownColumn& column : shown) widths.push_back(column.width());
  std::string text;
  for (std::size_t row = 0; row <= table.names.size(); ++row) {
    std::string line;
    for (std::size_t i = 0; i < shown.size(); ++i)
      line += cat(i > 0 ? "  " : "",
                  (shown[i].right ? pad_cells_left : pad_cells)(shown[i].cells[row], widths[i]));
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  if (left_out > 0)
    text += cat("(", left_out, left_out == 1 ? " column does" : " columns do",
                " not fit here: --csv and --json have all)\n");
  return text;
}

std::string trial_table_csv(const TrialTable& table) {
  std::string text = "name,state,path";
  for (const TrialColumn& column : table.columns) text += "," + csv_cell(column.name);
  text += "\n";
  for (std::size_t row = 0; row < table.names.size(); ++row) {
    text += cat(csv_cell(table.names[row]), ",", csv_cell(table.states[row]), ",",
                csv_cell(table.paths[row]));
    for (const TrialColumn& column : table.columns) text += "," + csv_value(column.values[row]);
    text += "\n";
  }
  return text;
}

json trial_table_json(const TrialTable& table) {
  json list = json::array();
  for (std::size_t row = 0; row < table.names.size(); ++row) {
    json facts = json::object(), quantities = json::object();
    for (const TrialColumn& column : table.columns)
      (column.is_quantity ? quantities : facts)[column.name] = column.values[row];
    list.push_back({{"name", table.names[row]},
                    {"state", table.states[row]},
                    {"path", table.paths[row]},
                    {"differing", facts},
                    {"measured", quantities}});
  }
  return list;
}

}  // namespace lockstep
