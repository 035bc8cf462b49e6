#include "run/run_files.h"

#include <algorithm>

#include "run/curves.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// One that is being written, or whose writer died.
bool is_temporary(const fs::path& path) { return path.filename().string().starts_with("."); }

void add_folder(const fs::path& run_dir, const fs::path& name, std::vector<RunFolder>& folders) {
  RunFolder folder{.name = name.string(), .files = {}};
  std::error_code failed;
  for (fs::recursive_directory_iterator entry(run_dir / name, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code ignored;
    if (is_temporary(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file(ignored)) {
      folder.files.push_back(entry->path().lexically_relative(run_dir / name).string());
      folder.bytes += entry->file_size(ignored);
    }
  }
  std::sort(folder.files.begin(), folder.files.end());
  if (!folder.files.empty()) folders.push_back(std::move(folder));
}

void add_steps(const fs::path& run_dir, const char* name, std::vector<RunFolder>& folders) {
  std::vector<fs::path> steps;
  std::error_code failed;
  for (fs::directory_iterator entry(run_dir / name, failed), end; !failed && entry != end;
       entry.increment(failed))
    if (!is_temporary(entry->path())) steps.push_back(name / entry->path().filename());
  std::sort(steps.begin(), steps.end());
  for (const fs::path& step : steps) add_folder(run_dir, step, folders);
}

}  // namespace

std::vector<RunFolder> run_files(const fs::path& run_dir) {
  std::vector<RunFolder> folders;
  add_steps(run_dir, "evaluations", folders);
  add_steps(run_dir, "media", folders);
  add_folder(run_dir, "predictions", folders);
  for (const char* file : {curves_name, "gpu.csv"}) {
    std::error_code failed;
    const std::uintmax_t bytes = fs::file_size(run_dir / file, failed);
    if (!failed) folders.push_back({.name = file, .files = {}, .bytes = bytes});
  }
  return folders;
}

}  // namespace lockstep
