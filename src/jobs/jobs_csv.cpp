#include "jobs/jobs_csv.h"

#include <iterator>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/text.h"
#include "jobs/batch_shares.h"
#include "jobs/ledger.h"
#include "media/csv_table.h"

namespace lockstep {
namespace {

// Columns of the jobs_query below, from the second on.
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
    "attempt WHERE attempt.job = job.id) WHERE listed != 0 ORDER BY job.id";

std::string number_or_text(const JobResult& result) {
  const auto* const number = std::get_if<double>(&result.value);
  if (number == nullptr) return std::get<std::string>(result.value);
  const std::string brief = general(*number, 15);
  return std::stod(brief) == *number ? brief : general(*number, 17);
}

// Names of columns that jobs bring along, in the order in which they came.
class ColumnNames {
 public:
  std::size_t place(const std::string& name) {
    const auto [at, is_new] = places_.emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return at->second;
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> names_;
};

struct JobRow {
  std::vector<std::string> cells;
  std::vector<std::pair<std::size_t, std::string>> parameters, results;  // place among their names
};

class JobTable {
 public:
  void add(const BatchFolder& batch) {
    Ledger ledger = ledger_to_read(batch);
    Statement rows(ledger.database(), jobs_query);
    while (rows.step()) {
      JobRow& row = rows_.emplace_back();
      row.cells.push_back(batch.path.filename().string());
      for (std::size_t i = 0; i < std::size(ledger_columns); ++i)
        row.cells.push_back(rows.text(static_cast<int>(i) + 1));
      for (const auto& [name, value] : ledger.job(rows.integer(1)).parameters)
        row.parameters.emplace_back(parameters_.place(name), value);
      for (const JobResult& result : ledger.results(rows.integer(0)))
        row.results.emplace_back(results_.place(result.name), number_or_text(result));
    }
  }

  std::string text() const {
    std::vector<std::string> head{"batch"};
    head.insert(head.end(), std::begin(ledger_columns), std::end(ledger_columns));
    for (const std::string& name : parameters_.all()) head.push_back("parameter." + name);
    for (const std::string& name : results_.all()) head.push_back("result." + name);
    std::string text;
    add_line(text, head);
    for (const JobRow& row : rows_) {
      std::vector<std::string> cells = row.cells;
      add_cells(cells, row.parameters, parameters_.all().size());
      add_cells(cells, row.results, results_.all().size());
      add_line(text, cells);
    }
    return text;
  }

 private:
  static void add_cells(std::vector<std::string>& cells,
                        const std::vector<std::pair<std::size_t, std::string>>& values,
                        std::size_t count) {
    const std::size_t begin = cells.size();
    cells.resize(begin + count);
    for (const auto& [place, value] : values) cells[begin + place] = value;
  }
  static void add_line(std::string& text, const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += ',';
      text += csv_cell(cells[i]);
    }
    text += '\n';
  }

  std::vector<JobRow> rows_;
  ColumnNames parameters_, results_;
};

}  // namespace

std::string jobs_csv(const std::vector<BatchFolder>& batches) {
  JobTable table;
  for (const BatchFolder& batch : batches) table.add(batch);
  return table.text();
}

}  // namespace lockstep
