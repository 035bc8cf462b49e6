#include "cli/last_evaluation.h"

#include "base/cells.h"
#include "base/columns.h"
#include "base/text.h"
#include "media/csv_table.h"
#include "run/checkpoint_names.h"
#include "run/curves.h"
#include "run/run_files.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

constexpr std::size_t most_columns = 8;
constexpr int widest_cell = 100, widest_row = 140;

std::string shortened(const std::string& cell) {
  const bool fraction = cell.find('.') != std::string::npos;
  const std::optional<double> number = fraction ? to_number(cell) : std::nullopt;
  return number ? general(*number, 4) : cell;
}

// The newest folder of that kind that training wrote: steps are written with leading zeros.
const RunFolder* newest(const std::vector<RunFolder>& folders, const std::string& kind) {
  const RunFolder* last = nullptr;
  for (const RunFolder& folder : folders)
    if (folder.name.starts_with(kind + "/") && step_of(folder.name.substr(kind.size() + 1)) &&
        (last == nullptr || folder.name > last->name))
      last = &folder;
  return last;
}

// Columns of long text leave room for the others, which are left out where there is none.
std::string first_rows(const CsvTable& table, std::size_t rows) {
  const std::size_t count = std::min(rows, table.rows.size());
  std::vector<std::vector<std::string>> cells(count + 1);
  int used = 0;
  for (std::size_t i = 0; i < table.columns.size() && cells[0].size() < most_columns; ++i) {
    std::vector<std::string> column{table.columns[i]};
    for (std::size_t row = 0; row < count; ++row)
      column.push_back(cut_cells(clean_cells(shortened(table.rows[row][i])), widest_cell, "…"));
    int width = 0;
    for (const std::string& cell : column) width = std::max(width, cells_of(cell));
    if (used > 0 && used + width > widest_row) continue;
    used += width + 2;
    for (std::size_t row = 0; row <= count; ++row) cells[row].push_back(std::move(column[row]));
  }
  return columns(cells);
}

}  // namespace

std::string last_evaluation_text(const std::filesystem::path& run_dir, std::size_t rows) {
  const std::vector<RunFolder> folders = run_files(run_dir);
  std::string text;
  const RunFolder* evaluation = newest(folders, "evaluations");
  if (evaluation != nullptr) try {
      const std::filesystem::path file = run_dir / evaluation->name / "items.csv";
      if (std::filesystem::exists(file)) {
        const CsvTable table = read_csv(file);
        text += cat("\n", first_rows(table, rows), "table ", file.string(), ": ", table.rows.size(),
                    table.rows.size() == 1 ? " row\n" : " rows\n");
      }
    } catch (const std::exception&) {
      // The run itself is well; its folder is named below all the same.
    }
  const RunFolder* pictures = newest(folders, "media");
  if (pictures != nullptr)
    text += cat(text.empty() ? "\n" : "", "pictures ", (run_dir / pictures->name).string(), ": ",
                pictures->files.size(), pictures->files.size() == 1 ? " file\n" : " files\n");
  std::error_code ignored;
  if (const std::filesystem::path curves = run_dir / curves_name;
      std::filesystem::exists(curves, ignored))
    text += cat(text.empty() ? "\n" : "", "curves ", curves.string(), "\n");
  return text;
}

}  // namespace lockstep::cli
