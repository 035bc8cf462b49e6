#include "tools/jobs/files/jobs_csv.h"

#include <iterator>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "tools/jobs/files/batch_shares.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep {
namespace {

// Columns of jobs_query below, from the second on.
constexpr const char* ledger_columns[] = {"job",
                                          "name",
                                          "state",
                                          "reason",
                                          "tries",
                                          "attempt",
                                          "started",
                                          "ended",
                                          "seconds",
                                          "cpu_s",
                                          "max_rss_bytes",
                                          "exit_code",
                                          "slot",
                                          "devices",
                                          "placement",
                                          "gpu_memory_bytes",
                                          "gpu_activity_percent"};
constexpr const char* jobs_query =
    "SELECT last.id, job.id, name, state, job.reason, tries, last.number, round(started, 3), "
    "round(ended, 3), round(ended - started, 6), round(cpu_s, 6), max_rss_bytes, exit_code, slot, "
    "(SELECT group_concat(value, ' ') FROM json_each(devices)), placement, last.gpu_memory_bytes, "
    "gpu_activity_percent FROM job LEFT JOIN attempt AS last ON last.id = (SELECT max(id) FROM "
    "attempt WHERE attempt.job = job.id) WHERE listed != 0 AND job.id > ? ORDER BY job.id LIMIT ?";

std::string number_or_text(const JobResult& result) {
  const auto* const number = std::get_if<double>(&result.value);
  if (number == nullptr) return std::get<std::string>(result.value);
  const std::string brief = general(*number, 15);
  return std::stod(brief) == *number ? brief : general(*number, 17);
}

// Names of columns that jobs add, in the order of their first use.
class ColumnNames {
 public:
  void add(const std::string& name) {
    constexpr std::size_t most = 10'000;
    if (names_.size() == most && !places_.contains(name))
      throw Error(cat("the jobs have more than ", most, " parameters or results together"),
                  "a table has no place for them; lockstep report writes them as JSON");
    if (places_.emplace(name, names_.size()).second) names_.push_back(name);
  }
  std::optional<std::size_t> place(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> names_;
};

// Cells of some columns. First: the index of the column's name.
using PlacedCells = std::vector<std::pair<std::size_t, std::string>>;

void append_cells(std::vector<std::string>& cells, const PlacedCells& values, std::size_t count) {
  const std::size_t begin = cells.size();
  cells.resize(begin + count);
  for (const auto& [place, value] : values) cells[begin + place] = value;
}

void append_row(std::string& text, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text += ',';
    text += csv_cell(cells[i]);
  }
  text += '\n';
}

class JobTable {
 public:
  explicit JobTable(const std::vector<BatchFolder>& batches) {
    for (const BatchFolder& batch : batches) name_columns(batch);
  }

  std::string head() const {
    std::vector<std::string> cells{"batch"};
    cells.insert(cells.end(), std::begin(ledger_columns), std::end(ledger_columns));
    for (const std::string& name : parameters_.all()) cells.push_back("parameter." + name);
    for (const std::string& name : results_.all()) cells.push_back("result." + name);
    std::string text;
    append_row(text, cells);
    return text;
  }

  // Writes all rows. Returns false if the reader stops. No statement is active while `write` waits
  // for its reader, because that would block a scheduler's writes to the ledger.
  bool write_rows(const BatchFolder& batch,
                  const std::function<bool(const std::string&)>& write) const {
    Ledger ledger = ledger_to_read(batch);
    Statement rows(ledger.database(), jobs_query);
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (;;) {
      rows.bind(1, last).bind(2, rows_at_once);
      std::string text;
      std::int64_t count = 0;
      for (; rows.step(); ++count) {
        last = rows.integer(1);
        append_row(text, cells_of(batch, ledger, rows));
      }
      rows.reset();
      if (!text.empty() && !write(text)) return false;
      if (count < rows_at_once) return true;
    }
  }

 private:
  static constexpr std::int64_t rows_at_once = 1000;

  void name_columns(const BatchFolder& batch) {
    Ledger ledger = ledger_to_read(batch);
    Statement rows(ledger.database(),
                   "SELECT (SELECT max(id) FROM attempt WHERE attempt.job = job.id), id FROM job "
                   "WHERE listed != 0 ORDER BY id");
    while (rows.step()) {
      for (const auto& [name, value] : ledger.job(rows.integer(1)).parameters)
        parameters_.add(name);
      for (const JobResult& result : ledger.results(rows.integer(0))) results_.add(result.name);
    }
  }

  std::vector<std::string> cells_of(const BatchFolder& batch, Ledger& ledger,
                                    const Statement& row) const {
    std::vector<std::string> cells{batch.path.filename().string()};
    for (std::size_t i = 0; i < std::size(ledger_columns); ++i)
      cells.push_back(row.text(static_cast<int>(i) + 1));
    PlacedCells parameters, results;
    for (const auto& [name, value] : ledger.job(row.integer(1)).parameters)
      if (const auto place = parameters_.place(name)) parameters.emplace_back(*place, value);
    for (const JobResult& result : ledger.results(row.integer(0)))
      if (const auto place = results_.place(result.name))
        results.emplace_back(*place, number_or_text(result));
    append_cells(cells, parameters, parameters_.all().size());
    append_cells(cells, results, results_.all().size());
    return cells;
  }

  ColumnNames parameters_, results_;
};

}  // namespace

void write_jobs_csv(const std::vector<BatchFolder>& batches,
                    const std::function<bool(const std::string&)>& write) {
  const JobTable table(batches);
  if (!write(table.head())) return;
  for (const BatchFolder& batch : batches)
    if (!table.write_rows(batch, write)) return;
}

}  // namespace lockstep
