#include "runtime/run/folder/run_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "core/base/errno_hint.h"
#include "core/base/error.h"
#include "core/base/files/beneath.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/curves/curves.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// Whether the file is being written, or was left by a writer that was killed.
bool is_temporary(const fs::path& path) { return path.filename().string().starts_with("."); }

void add_folder(const fs::path& run_dir, const fs::path& name, std::vector<RunFolder>& folders) {
  RunFolder folder{.name = name.string(), .files = {}};
  std::error_code failed;
  std::int64_t seen = 0;
  for (fs::recursive_directory_iterator entry(run_dir / name, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code ignored;
    if (++seen > most_run_files) {
      folder.has_more = true;
      break;
    }
    if (entry.depth() >= deepest_run_file && entry->is_directory(ignored) &&
        !entry->is_symlink(ignored)) {
      entry.disable_recursion_pending();
      folder.has_more = true;
    }
    if (is_temporary(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file(ignored)) {
      folder.files.push_back(entry->path().lexically_relative(run_dir / name).string());
      folder.bytes += entry->file_size(ignored);
    }
  }
  std::sort(folder.files.begin(), folder.files.end());
  if (!folder.files.empty() || folder.has_more) folders.push_back(std::move(folder));
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

UniqueFd open_run_file(const fs::path& run_dir, const fs::path& below) try {
  UniqueFd file = Beneath(run_dir).open(below, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  struct stat info {};
  if (file && (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))) file.reset();
  return file;
} catch (const Error&) {  // the folder does not exist
  return {};
}

std::optional<std::string> read_run_file(const fs::path& run_dir, const fs::path& below,
                                         std::uint64_t most_bytes) {
  const UniqueFd file = open_run_file(run_dir, below);
  if (!file) return std::nullopt;
  std::ifstream in(cat("/proc/self/fd/", file.get()));
  std::string text = read_stream(in, (run_dir / below).string(), most_bytes);
  if (in.bad()) throw Error(cat("cannot read ", (run_dir / below).string()), errno_hint(EIO));
  return text;
}

}  // namespace lockstep
