#include "recipes/gbdt/bars/label_column.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"

namespace lockstep::gbdt {
namespace {

constexpr std::size_t most_classes = 1000, few_classes = 20;

std::string cell_of(const LabelColumn& column, std::size_t i) {
  return std::string(column.table.cell(column.rows[i], column.column));
}

// The name of a class. The cells 1, 1.0 and 1e0 name the same class.
std::string class_name(const std::string& cell) {
  const auto number = to_number(cell);
  return number && std::isfinite(*number) ? general(*number, 15) : cell;
}

bool are_numbers(const std::vector<std::string>& classes) {
  return std::all_of(classes.begin(), classes.end(),
                     [](const auto& one) { return to_number(one).has_value(); });
}

void sort_classes(std::vector<std::string>& classes) {
  if (are_numbers(classes))
    std::sort(classes.begin(), classes.end(),
              [](const auto& a, const auto& b) { return *to_number(a) < *to_number(b); });
  else
    std::sort(classes.begin(), classes.end());
}

[[noreturn]] void refuse_third(const LabelColumn& column, std::size_t i) {
  throw Error(
      cat(column.table.place(column.rows[i]), ": the label ", column.table.columns[column.column],
          " is ", printable(cell_of(column, i)), ", but must be 0 or 1, or one of two values"),
      "objective=multiclass learns more classes, objective=regression numbers");
}

}  // namespace

std::vector<std::string> classes_of(const LabelColumn& column, LabelKind kind) {
  std::map<std::string, std::size_t> first;  // the first row of each class
  std::size_t labelled = 0;
  for (std::size_t i = 0; i < column.rows.size(); ++i) {
    if (column.missing[i]) continue;
    ++labelled;
    const bool is_new = first.emplace(class_name(cell_of(column, i)), i).second;
    if (is_new && kind == LabelKind::two_classes && first.size() > 2) refuse_third(column, i);
  }
  std::vector<std::string> classes;
  for (const auto& [name, i] : first) {
    check_utf8(name, *column.table.raw, column.table.line(column.rows[i]));
    classes.push_back(name);
  }
  if (kind == LabelKind::two_classes &&
      std::all_of(classes.begin(), classes.end(),
                  [](const auto& name) { return name == "0" || name == "1"; }))
    return {"0", "1"};
  const bool numbers = are_numbers(classes);
  const std::size_t fewest_each = numbers ? 5 : 2;
  if (classes.size() > most_classes ||
      (classes.size() > few_classes && fewest_each * classes.size() > labelled))
    throw Error(
        cat(column.table.raw->name, ": the label ", column.table.columns[column.column], " has ",
            classes.size(), " different values in ", labelled, " rows, too many for classes"),
        numbers ? "objective=regression learns numbers"
                : "a class needs some rows to be learnt from");
  sort_classes(classes);
  return classes;
}

bool is_class(const std::string& cell, const std::vector<std::string>& classes) {
  return std::find(classes.begin(), classes.end(), class_name(cell)) != classes.end();
}

std::vector<double> class_labels(const LabelColumn& column,
                                 const std::vector<std::string>& classes) {
  std::map<std::string, double> places;
  for (std::size_t i = 0; i < classes.size(); ++i) places[classes[i]] = static_cast<double>(i);
  std::vector<double> labels;
  for (std::size_t i = 0; i < column.rows.size(); ++i) {
    if (column.missing[i]) {
      labels.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const auto found = places.find(class_name(cell_of(column, i)));
    if (found == places.end())
      throw Error(cat(column.table.place(column.rows[i]), ": the label ",
                      column.table.columns[column.column], " is ", printable(cell_of(column, i)),
                      ", which is none of the model's classes"),
                  cat("they are ", join(classes, ", ")));
    labels.push_back(found->second);
  }
  return labels;
}

}  // namespace lockstep::gbdt
