#include "cli/last_evaluation.h"

#include "base/columns.h"
#include "base/text.h"
#include "media/csv_table.h"
#include "run/curves.h"
#include "run/run_files.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

constexpr std::size_t most_columns = 8;

std::string shortened(const std::string& cell) {
  const bool fraction = cell.find('.') != std::string::npos;
  const std::optional<double> number = fraction ? to_number(cell) : std::nullopt;
  return number ? general(*number, 4) : cell;
}

// The newest folder of that kind: steps are written with leading zeros.
const RunFolder* newest(const std::vector<RunFolder>& folders, const std::string& kind) {
  const RunFolder* last = nullptr;
  for (const RunFolder& folder : folders)
    if (folder.name.starts_with(kind + "/") && (last == nullptr || folder.name > last->name))
      last = &folder;
  return last;
}

std::string first_rows(const CsvTable& table, std::size_t rows) {
  std::vector<std::vector<std::string>> cells;
  const std::size_t width = std::min(most_columns, table.columns.size());
  const auto add = [&](const std::vector<std::string>& row) {
    std::vector<std::string>& line = cells.emplace_back();
    for (std::size_t i = 0; i < width; ++i) line.push_back(shortened(row[i]));
  };
  add(table.columns);
  for (std::size_t i = 0; i < std::min(rows, table.rows.size()); ++i) add(table.rows[i]);
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
