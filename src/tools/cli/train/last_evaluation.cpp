#include "tools/cli/train/last_evaluation.h"

#include "core/base/error.h"
#include "core/base/text/say.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "runtime/run/checkpoint/checkpoint_names.h"
#include "runtime/run/curves/curves.h"
#include "runtime/run/folder/run_files.h"
#include "tools/cli/compare/table_text.h"

#include <optional>

namespace lockstep::cli {
namespace fs = std::filesystem;
namespace {

// The newest folder of that kind that training wrote. Names contain steps with leading zeros, so
// the last name is the newest.
const RunFolder* newest(const std::vector<RunFolder>& folders, const std::string& kind) {
  const RunFolder* last = nullptr;
  for (const RunFolder& folder : folders)
    if (folder.name.starts_with(kind + "/") && step_of(folder.name.substr(kind.size() + 1)) &&
        (last == nullptr || folder.name > last->name))
      last = &folder;
  return last;
}

std::optional<CsvTable> table_of_run(const fs::path& run_dir, const fs::path& below) {
  const ReadCsv usual;
  const auto text = read_run_file(run_dir, below, usual.file_bytes);
  if (!text) return std::nullopt;
  return parse_csv(*text, below.filename().string());
}

}  // namespace

std::string last_evaluation_text(const fs::path& run_dir, std::size_t rows) {
  const std::vector<RunFolder> folders = run_files(run_dir);
  std::string text;
  const RunFolder* evaluation = newest(folders, "evaluations");
  if (evaluation != nullptr) try {
      const fs::path file = fs::path(evaluation->name) / "items.csv";
      if (const auto table = table_of_run(run_dir, file))
        text += cat("\n", table_text(*table, {.rows = rows, .columns = 8}), "table ",
                    (run_dir / file).string(), ": ", table->rows.size(),
                    table->rows.size() == 1 ? " row\n" : " rows\n");
    } catch (const std::exception&) {
      // An unreadable table is no fault of the run. The folder is still named below.
    }
  const RunFolder* pictures = newest(folders, "media");
  if (pictures != nullptr)
    text += cat(text.empty() ? "\n" : "", "pictures ", (run_dir / pictures->name).string(), ": ",
                pictures->files.size(), pictures->files.size() == 1 ? " file\n" : " files\n");
  std::error_code ignored;
  if (const fs::path curves = run_dir / curves_name; fs::exists(curves, ignored))
    text += cat(text.empty() ? "\n" : "", "curves ", curves.string(), "\n");
  return text;
}

std::string named_table_text(const std::string& name, const CsvTable& table) {
  constexpr std::size_t most_rows = 300;
  std::string text = cat("\n", name, "\n", table_text(table, {.rows = most_rows}));
  if (table.rows.size() > most_rows)
    text += cat("… and ", table.rows.size() - most_rows, " more rows\n");
  return text;
}

std::string step_tables_text(const fs::path& run_dir, std::int64_t step) {
  const std::string folder = cat("evaluations/", checkpoint_name(step));
  std::string text;
  for (const RunFolder& one : run_files(run_dir)) {
    if (one.name != folder) continue;
    for (const fs::path file : one.files) {
      if (file.extension() != ".csv" || file.stem() == "items") continue;
      const std::string name = file.stem().string();
      try {
        const auto table = table_of_run(run_dir, folder / file);
        if (!table) throw Error("it is reached through a link");
        text += named_table_text(name, *table);
      } catch (const Error& error) {
        say(cat("warning: the table ", name, " cannot be shown: ", error.what()));
      }
    }
  }
  return text;
}

}  // namespace lockstep::cli
