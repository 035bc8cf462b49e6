#include "tools/jobs/matrix/matrix.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/parse.h"
#include "tools/jobs/job_file/fill_attempt.h"

namespace lockstep {
namespace {

// Whether the values are equal as numbers or as text. "0.1" and "1e-1" are equal.
bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto x = detail::parse_real(a), y = detail::parse_real(b);
  return x && y && *x == *y;
}

void check_names(const Matrix& matrix) {
  std::set<std::string> seen;
  for (const MatrixAxis& axis : matrix.axes)
    for (const std::string& name : axis.names)
      if (!seen.insert(name).second)
        throw Error(cat(matrix.place.text(), ": the parameter ", name, " is in the matrix twice"));
}

// Checks the number of combinations. An error shows it as "symbol 96 x start 6".
void check_size(const Matrix& matrix) {
  double count = 1;
  std::vector<std::string> words;
  for (const MatrixAxis& axis : matrix.axes) {
    count *= static_cast<double>(axis.rows.size());
    words.push_back(cat(join(axis.names, ","), " ", axis.rows.size()));
  }
  try {
    check_job_count(count, join(words, " x "));
  } catch (const Error& error) {
    throw Error(cat(matrix.place.text(), ": ", error.what()), error.hint());
  }
}

// For each axis, the rows that agree with the given values. Nothing for an axis that no value
// restricts.
class Matches {
 public:
  explicit Matches(const Matrix& matrix) : matrix_(matrix), allowed_(matrix.axes.size()) {}

  // Returns false if no axis has a parameter of that name.
  template <class Agrees>
  bool restrict(const std::string& name, Agrees agrees) {
    for (std::size_t a = 0; a < matrix_.axes.size(); ++a) {
      const MatrixAxis& axis = matrix_.axes[a];
      const auto found = std::find(axis.names.begin(), axis.names.end(), name);
      if (found == axis.names.end()) continue;
      const auto column = static_cast<std::size_t>(found - axis.names.begin());
      std::vector<bool>& allowed = allowed_[a];
      if (allowed.empty()) allowed.assign(axis.rows.size(), true);
      for (std::size_t row = 0; row < axis.rows.size(); ++row)
        if (!agrees(axis.rows[row][column])) allowed[row] = false;
      return true;
    }
    return false;
  }

  bool operator()(std::span<const std::size_t> rows) const {
    for (std::size_t a = 0; a < rows.size(); ++a)
      if (!allowed_[a].empty() && !allowed_[a][rows[a]]) return false;
    return true;
  }

 private:
  const Matrix& matrix_;
  std::vector<std::vector<bool>> allowed_;
};

// Returns the same text for equal values.
std::string canonical(const std::string& value) {
  const auto number = detail::parse_real(value);
  return number ? detail::format_real(*number + 0.0) : value;  // + 0 turns -0 into 0
}

// Combinations to leave out. There may be as many exclusions as combinations, so not all are
// examined for each combination. Each exclusion is stored under one axis, on which it names the
// smallest share of rows. Only exclusions stored under a row of the combination are examined.
class Exclusions {
 public:
  explicit Exclusions(const Matrix& matrix) : matrix_(matrix), by_row_(matrix.axes.size()) {
    for (std::size_t a = 0; a < matrix.axes.size(); ++a)
      for (std::size_t i = 0; i < matrix.axes[a].names.size(); ++i)
        columns_.emplace(matrix.axes[a].names[i], Column{a, i});
    for (const Matrix::Exclusion& exclusion : matrix.exclude) add(exclusion);
  }

  bool operator()(std::span<const std::size_t> rows) const {
    if (leaves_out_all_) return true;
    for (std::size_t a = 0; a < rows.size(); ++a) {
      const auto found = by_row_[a].find(rows[a]);
      if (found == by_row_[a].end()) continue;
      for (const std::size_t exclusion : found->second)
        if (agrees(exclusions_[exclusion], rows)) return true;
    }
    return false;
  }

 private:
  using Rows = std::vector<std::size_t>;            // ascending
  using RowsByAxis = std::map<std::size_t, Rows>;   // the axes that an exclusion names
  using RowsByValue = std::map<std::string, Rows>;  // key: canonical value of a column
  struct Column {
    std::size_t axis = 0, place = 0;
    std::optional<RowsByValue> rows{};
  };

  static bool agrees(const RowsByAxis& named, std::span<const std::size_t> rows) {
    return std::all_of(named.begin(), named.end(), [&](const auto& axis) {
      return std::binary_search(axis.second.begin(), axis.second.end(), rows[axis.first]);
    });
  }

  Column& column_of(const std::string& name, const Matrix::Exclusion& exclusion) {
    const auto found = columns_.find(name);
    if (found != columns_.end()) return found->second;
    std::vector<std::string> names;
    for (const MatrixAxis& axis : matrix_.axes)
      names.insert(names.end(), axis.names.begin(), axis.names.end());
    const std::string near = nearest(name, names);
    throw Error(cat(exclusion.place.text(), ": exclude names ", name,
                    ", which is no parameter of the matrix"),
                near.empty() ? cat("it has ", join(names, ", ")) : cat("did you mean ", near, "?"));
  }

  const RowsByValue& rows_of(Column& column) {
    if (column.rows) return *column.rows;
    column.rows.emplace();
    const MatrixAxis& axis = matrix_.axes[column.axis];
    for (std::size_t row = 0; row < axis.rows.size(); ++row)
      (*column.rows)[canonical(axis.rows[row][column.place])].push_back(row);
    return *column.rows;
  }

  void add(const Matrix::Exclusion& exclusion) {
    RowsByAxis named;
    for (const auto& [name, values] : exclusion.values) {
      Column& column = column_of(name, exclusion);
      Rows rows;
      for (const std::string& value : values)
        if (const auto same = rows_of(column).find(canonical(value)); same != column.rows->end())
          rows.insert(rows.end(), same->second.begin(), same->second.end());
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
      const auto [before, is_new] = named.emplace(column.axis, rows);
      if (is_new) continue;
      Rows both;
      std::set_intersection(before->second.begin(), before->second.end(), rows.begin(), rows.end(),
                            std::back_inserter(both));
      before->second = std::move(both);
    }
    leaves_out_all_ = leaves_out_all_ || named.empty();
    if (named.empty()) return;
    const auto share = [&](const auto& axis) {
      return static_cast<double>(axis.second.size()) /
             static_cast<double>(matrix_.axes[axis.first].rows.size());
    };
    const auto smallest =
        std::min_element(named.begin(), named.end(),
                         [&](const auto& a, const auto& b) { return share(a) < share(b); });
    for (const std::size_t row : smallest->second)
      by_row_[smallest->first][row].push_back(exclusions_.size());
    exclusions_.push_back(std::move(named));
  }

  const Matrix& matrix_;
  std::map<std::string, Column> columns_;
  std::vector<RowsByAxis> exclusions_;
  // For each axis and each of its rows: the exclusions to examine.
  std::vector<std::map<std::size_t, std::vector<std::size_t>>> by_row_;
  bool leaves_out_all_ = false;
};

// Advances the rows, the last axis fastest. Returns false after the last combination.
bool next(std::vector<std::size_t>& rows, const Matrix& matrix) {
  for (std::size_t a = rows.size(); a-- > 0;) {
    if (++rows[a] < matrix.axes[a].rows.size()) return true;
    rows[a] = 0;
  }
  return false;
}

// The combinations of the axes, without inclusions.
class Combinations {
 public:
  explicit Combinations(const Matrix& matrix) : matrix_(matrix) {
    if (matrix.axes.empty()) return;
    const Exclusions excluded(matrix);
    std::vector<std::size_t> rows(matrix.axes.size(), 0);
    do {
      if (!excluded(rows)) rows_.insert(rows_.end(), rows.begin(), rows.end());
    } while (next(rows, matrix));
  }

  std::size_t size() const { return matrix_.axes.empty() ? 0 : rows_.size() / matrix_.axes.size(); }

  std::span<const std::size_t> rows(std::size_t i) const {
    return std::span(rows_).subspan(i * matrix_.axes.size(), matrix_.axes.size());
  }

  JobParameters parameters(std::size_t i, std::size_t names) const {
    JobParameters parameters;
    parameters.reserve(names);
    for (std::size_t a = 0; a < matrix_.axes.size(); ++a) {
      const MatrixAxis& axis = matrix_.axes[a];
      const std::vector<std::string>& row = axis.rows[rows(i)[a]];
      for (std::size_t n = 0; n < axis.names.size(); ++n)
        parameters.emplace_back(axis.names[n], row[n]);
    }
    return parameters;
  }

 private:
  const Matrix& matrix_;
  std::vector<std::size_t> rows_;  // combination after combination, with one index per axis
};

void set(JobParameters& parameters, const std::pair<std::string, std::string>& value) {
  for (auto& [name, old] : parameters)
    if (name == value.first) {
      if (!same_value(old, value.second)) old = value.second;
      return;
    }
  parameters.push_back(value);
}

// Adds the parameters to all combinations that they do not contradict. Returns false if there is
// none.
bool add_to_matching(const Matrix& matrix, const Matrix::Inclusion& inclusion,
                     const Combinations& combinations, std::vector<JobParameters>& jobs) {
  Matches matches(matrix);
  for (const auto& [name, value] : inclusion.values)
    matches.restrict(name,
                     [&value = value](const std::string& own) { return same_value(own, value); });
  bool added = false;
  for (std::size_t i = 0; i < combinations.size(); ++i) {
    if (!matches(combinations.rows(i))) continue;
    added = true;
    for (const auto& value : inclusion.values) set(jobs[i], value);
  }
  return added;
}

void put_in_order(JobParameters& parameters, const std::vector<std::string>& names) {
  std::stable_sort(parameters.begin(), parameters.end(), [&](const auto& a, const auto& b) {
    return std::find(names.begin(), names.end(), a.first) <
           std::find(names.begin(), names.end(), b.first);
  });
}

// Throws Error if there are no combinations, if there are too many, or if a name occurs twice.
Combinations checked_combinations(const Matrix& matrix) {
  check_names(matrix);
  check_size(matrix);
  Combinations combinations(matrix);
  if (combinations.size() == 0 && matrix.include.empty())
    throw Error(cat(matrix.place.text(), ": the matrix is empty: exclude leaves nothing of it"));
  return combinations;
}

}  // namespace

std::vector<std::string> Matrix::names() const {
  std::vector<std::string> names;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (seen.insert(name).second) names.push_back(name);
  };
  for (const MatrixAxis& axis : axes) std::for_each(axis.names.begin(), axis.names.end(), add);
  for (const Inclusion& inclusion : include)
    for (const auto& [name, value] : inclusion.values) add(name);
  return names;
}

std::vector<JobParameters> expand_matrix(const Matrix& matrix) {
  if (matrix.empty()) return {JobParameters{}};
  const Combinations combinations = checked_combinations(matrix);
  const std::vector<std::string> names = matrix.names();
  std::vector<JobParameters> jobs;
  jobs.reserve(combinations.size());
  for (std::size_t i = 0; i < combinations.size(); ++i)
    jobs.push_back(combinations.parameters(i, names.size()));
  for (const Matrix::Inclusion& inclusion : matrix.include)
    if (!add_to_matching(matrix, inclusion, combinations, jobs)) jobs.push_back(inclusion.values);
  if (!matrix.include.empty())
    for (JobParameters& parameters : jobs) put_in_order(parameters, names);
  return jobs;
}

std::size_t count_combinations(const Matrix& matrix) {
  return matrix.empty() ? 1 : checked_combinations(matrix).size();
}

void each_combination(const Matrix& matrix, const std::function<void(JobParameters)>& visit) {
  LOCKSTEP_CHECK(matrix.include.empty());
  if (matrix.empty()) return visit({});
  const Combinations combinations = checked_combinations(matrix);
  const std::size_t names = matrix.names().size();
  for (std::size_t i = 0; i < combinations.size(); ++i) visit(combinations.parameters(i, names));
}

void check_parameter_name(const std::string& name) {
  const auto begins = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const bool is_name = !name.empty() && begins(name.front()) && name.back() != '.' &&
                       std::all_of(name.begin(), name.end(), [&](char c) {
                         return begins(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
                       });
  if (!is_name)
    throw Error(cat("\"", name, "\" cannot be the name of a parameter"),
                "a name has letters, digits, _, - and . and begins with a letter");
  if (is_attempt_name(name))
    throw Error(cat("a parameter cannot be called ", name, ": {", name,
                    "} is filled in when a job starts"));
}

void check_job_count(double count, const std::string& reason) {
  if (count <= static_cast<double>(most_jobs)) return;
  throw Error(cat("there would be ", fixed(count, 0), " jobs (", reason, "), and at most ",
                  most_jobs, " are possible"),
              "let each job do more, or make several batches");
}

}  // namespace lockstep
