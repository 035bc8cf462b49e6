#include "cli/last_evaluation.h"

#include "base/text.h"
#include "cli/table_text.h"
#include "media/csv_table.h"
#include "run/checkpoint_names.h"
#include "run/curves.h"
#include "run/run_files.h"

namespace lockstep::cli {
namespace {

// The newest folder of that kind that training wrote: steps are written with leading zeros.
const RunFolder* newest(const std::vector<RunFolder>& folders, const std::string& kind) {
  const RunFolder* last = nullptr;
  for (const RunFolder& folder : folders)
    if (folder.name.starts_with(kind + "/") && step_of(folder.name.substr(kind.size() + 1)) &&
        (last == nullptr || folder.name > last->name))
      last = &folder;
  return last;
}

}  // namespace

std::string last_evaluation_text(const std::filesystem::path& run_dir, std::size_t rows) {
  const std::vector<RunFolder> folders = run_files(run_dir);
  std::string text;
  const RunFolder* evaluation = newest(folders, "evaluations");
  if (evaluation != nullptr) try {
      const std::filesystem::path file = run_dir / evaluation->name / "items.csv";
      if (open_run_file(run_dir, std::filesystem::path(evaluation->name) / "items.csv")) {
        const CsvTable table = read_csv(file);
        text += cat("\n", table_text(table, {.rows = rows, .columns = 8}), "table ", file.string(),
                    ": ", table.rows.size(), table.rows.size() == 1 ? " row\n" : " rows\n");
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
