#include "tools/jobs/matrix/matrix_values.h"

#include <algorithm>
#include <span>

#include "core/base/error.h"
#include "core/base/files/file_kind.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "core/media/csv_table.h"
#include "tools/jobs/matrix/matrix_range.h"

namespace lockstep {
namespace {

using detail::TomlNode;
using Kind = TomlNode::Kind;

constexpr const char* forms =
    "write a list, {from=, to=, step=}, {lines=\"FILE\"} or {csv=\"FILE\", column=\"NAME\"}";

[[noreturn]] void fail_nul(const std::string& what) {
  throw Error(cat(what, " holds a NUL, which no program can take"));
}

void check_keys(const TomlNode& table, std::span<const std::string> known) {
  for (const auto& [key, node] : table.members) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string near = nearest(key, known);
    throw Error(cat("there is no key ", key, " here"), near.empty()
                                                           ? cat("there are ", join(known, ", "))
                                                           : cat("did you mean ", near, "?"));
  }
}

const TomlNode& member(const TomlNode& table, const std::string& key) {
  const TomlNode* const node = table.find(key);
  if (!node) throw Error(cat("a range needs ", key), "write {from = 1, to = 10, step = 1}");
  return *node;
}

MatrixAxis of_values(const std::string& key, std::vector<std::string> values) {
  MatrixAxis axis{.names = {key}};
  axis.rows.reserve(values.size());
  for (std::string& value : values) axis.rows.push_back({std::move(value)});
  return axis;
}

MatrixAxis range(const std::string& key, const TomlNode& table) {
  check_keys(table, std::vector<std::string>{"from", "to", "step"});
  const std::string from = scalar_text(member(table, "from"), "from");
  const std::string to = scalar_text(member(table, "to"), "to");
  const TomlNode* const given = table.find("step");
  const bool dates = is_date(from);
  const std::string step = given ? scalar_text(*given, "step") : dates ? "1d" : "1";
  return of_values(key, dates ? date_range(from, to, step) : number_range(from, to, step));
}

// The columns and the names of their parameters.
std::vector<std::pair<std::string, std::string>> chosen_columns(const std::string& key,
                                                                const TomlNode& table,
                                                                const CsvTable& csv) {
  std::vector<std::pair<std::string, std::string>> chosen;
  const TomlNode* const column = table.find("column");
  const TomlNode* const columns = table.find("columns");
  if (column && columns) throw Error("column and columns exclude each other");
  if (column) return {{scalar_text(*column, "column"), key}};
  if (!columns)
    for (const std::string& name : csv.columns) chosen.emplace_back(name, name);
  else if (columns->kind == Kind::list)
    for (const TomlNode& name : columns->items)
      chosen.emplace_back(scalar_text(name, "columns"), scalar_text(name, "columns"));
  else if (columns->kind == Kind::table)
    for (const auto& [name, from] : columns->members)
      chosen.emplace_back(scalar_text(from, "columns"), name);
  if (chosen.empty())
    throw Error("columns must be a list of names, or a table",
                "write columns = [\"start\", \"end\"] or columns = {start = \"first day\"}");
  return chosen;
}

MatrixAxis csv_columns(const std::string& key, const TomlNode& table,
                       const std::filesystem::path& folder) {
  check_keys(table, std::vector<std::string>{"csv", "column", "columns"});
  const CsvTable csv = read_csv(folder / scalar_text(*table.find("csv"), "csv"),
                                {.most_rows = static_cast<std::size_t>(most_jobs)});
  MatrixAxis axis;
  std::vector<std::size_t> indices;
  for (const auto& [column, name] : chosen_columns(key, table, csv)) {
    indices.push_back(csv.column(column));
    axis.names.push_back(name);
  }
  axis.rows.reserve(csv.rows.size());
  for (const std::vector<std::string>& cells : csv.rows) {
    std::vector<std::string>& row = axis.rows.emplace_back();
    row.reserve(indices.size());
    for (const std::size_t index : indices) {
      if (!is_value(cells[index]))
        fail_value(cells[index], cat(csv.place(axis.rows.size() - 1), ": ", csv.columns[index]));
      row.push_back(cells[index]);
    }
  }
  return axis;
}

std::vector<std::string> lines_in(const std::filesystem::path& folder, const std::string& file) {
  return value_lines(read_file(folder / file, list_bytes), file);
}

MatrixAxis from_table(const std::string& key, const TomlNode& table,
                      const std::filesystem::path& folder) {
  if (table.find("csv")) return csv_columns(key, table, folder);
  if (const TomlNode* const lines = table.find("lines")) {
    check_keys(table, std::vector<std::string>{"lines"});
    return of_values(key, lines_in(folder, scalar_text(*lines, "lines")));
  }
  if (table.find("from") || table.find("to")) return range(key, table);
  throw Error(cat("the values of ", key, " are not said"), forms);
}

MatrixAxis linked_values(const TomlNode& list) {
  MatrixAxis axis;
  for (const auto& [name, value] : list.items[0].members) axis.names.push_back(name);
  for (const TomlNode& item : list.items) {
    std::vector<std::string>& row = axis.rows.emplace_back();
    for (const std::string& name : axis.names)
      if (const TomlNode* const value = item.find(name)) row.push_back(scalar_text(*value, name));
    if (item.kind != Kind::table || item.members.size() != axis.names.size() ||
        row.size() != axis.names.size())
      throw Error(cat("line ", item.line, " must have values for ", join(axis.names, ", "),
                      ", as the first item has"));
  }
  return axis;
}

MatrixAxis from_node(const std::string& key, const TomlNode& node,
                     const std::filesystem::path& folder) {
  if (node.kind == Kind::table) return from_table(key, node, folder);
  if (node.kind != Kind::list) return of_values(key, {scalar_text(node, key)});
  if (!node.items.empty() && !node.items[0].members.empty()) return linked_values(node);
  std::vector<std::string> values;
  values.reserve(node.items.size());
  for (const TomlNode& item : node.items) values.push_back(scalar_text(item, key));
  return of_values(key, std::move(values));
}

}  // namespace

MatrixAxis read_axis(const std::string& key, const TomlNode& node,
                     const std::filesystem::path& folder, const std::string& file) {
  try {
    MatrixAxis axis = from_node(key, node, folder);
    for (const std::string& name : axis.names) check_parameter_name(name);
    if (axis.rows.empty())
      throw Error("the matrix is empty: it has no values", "give at least one value");
    return axis;
  } catch (const Error& error) {
    throw Error(cat(file, ", line ", node.line, ": matrix.", key, ": ", error.what()),
                error.hint());
  }
}

std::string scalar_text(const TomlNode& node, const std::string& what) {
  if (node.kind == Kind::table || node.kind == Kind::list)
    throw Error(cat(what, " must be a text or a number, but is a ",
                    node.kind == Kind::table ? "table" : "list"));
  std::string text = node.kind == Kind::integer ? node.value.dump() : node.text;
  if (node.kind == Kind::real) std::erase(text, '_');
  if (text.find('\0') != text.npos) fail_nul(what);
  return text;
}

bool is_value(const std::string& text) {
  return text.find('\0') == text.npos && invalid_bytes(text) == 0;
}

void fail_value(const std::string& text, const std::string& where) {
  if (text.find('\0') != text.npos) fail_nul(where);
  throw Error(cat(where, " is not valid UTF-8: ", printable(text)),
              "rename the file, give it through a link, or write the list as UTF-8");
}

std::vector<std::string> value_lines(const std::string& text, const std::string& source) {
  // Most lines have a value. Too many lines are refused before they take memory.
  const auto count = static_cast<double>(std::count(text.begin(), text.end(), '\n'));
  if (count > 2 * static_cast<double>(most_jobs)) check_job_count(count, "a line each");
  if (const auto kind = kind_of_file(text, source))
    throw Error(cat(source, " is ", kind->name, ", but must be text in UTF-8, with a value a line"),
                kind->format == FileFormat::wide_text ? text_remedy(*kind, source, TextForm::csv)
                                                      : "write its values as text, one a line");
  std::vector<std::string> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (!is_value(lines[i])) fail_value(lines[i], cat(source, ", line ", i + 1));
  std::erase(lines, "");
  return lines;
}

}  // namespace lockstep
