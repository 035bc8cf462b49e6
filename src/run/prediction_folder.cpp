// Temporary names, renames and locks of predictions.
#include "run/prediction_folder.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/write_all.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace lockstep {
namespace fs = std::filesystem;
namespace {

constexpr const char* scratch_prefix = ".unfinished-";

[[noreturn]] void throw_unwritable(const std::string& what, const fs::path& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  throw Error(cat("cannot ", what, " ", path.string(), ": ", errno_text(error)),
              full ? "free some space, or name a folder on another disk with out="
                   : "name a folder that you can write to with out=");
}

UniqueFd lock_folder(const fs::path& folder) {
  UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return {};
  return fd;
}

// Of commands that were killed: nobody holds a lock on them.
void remove_left_behind(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (!entry->path().filename().string().starts_with(scratch_prefix)) continue;
    if (lock_folder(entry->path())) fs::remove_all(entry->path(), ignored);
  }
}

void check_output_name(const std::string& name) {
  const fs::path path = name;
  const bool leads_out =
      path.empty() || path.is_absolute() ||
      std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
  if (leads_out || !path.has_filename())
    throw Error(cat("an output must have a name below its folder, but is called \"", name, "\""),
                "the recipe gives outputs their names");
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

}  // namespace

void check_outputs_are_new(const fs::path& folder, const std::vector<std::string>& names) {
  std::vector<std::string> there;
  for (const std::string& name : names)
    if (is_there(folder / name)) there.push_back((folder / name).string());
  if (there.empty()) return;
  throw Error(cat(there[0], " is there already",
                  there.size() == 1 ? "" : cat(", and ", there.size() - 1, " more outputs are")),
              "name another folder with out=, or overwrite with --force");
}

PredictionFolder::PredictionFolder(const fs::path& folder) : path_(folder) {
  try {
    make_directories(folder);
  } catch (const Error& error) {
    throw Error(error.what(), "name a folder that you can write to with out=");
  }
  remove_left_behind(folder);
  std::string name = (folder / cat(scratch_prefix, "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) throw_unwritable("write into", folder, errno);
  scratch_ = name;
  lock_ = lock_folder(scratch_);
}

PredictionFolder::~PredictionFolder() {
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
}

std::vector<std::string> PredictionFolder::keep_partial() const {
  std::vector<std::string> kept;
  const fs::path joint = joint_folder(scratch_);
  std::error_code error;
  for (fs::recursive_directory_iterator entry(joint, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    const std::string name = entry->path().lexically_relative(joint).string() + ".partial";
    fs::create_directories((path_ / name).parent_path(), ignored);
    if (std::rename(entry->path().c_str(), (path_ / name).c_str()) == 0) kept.push_back(name);
  }
  return kept;
}

fs::path joint_folder(const fs::path& scratch) { return scratch / "joint"; }

UniqueFd open_output(const fs::path& path) {
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) throw_unwritable("write", path, errno);
  return file;
}

void append_output(const UniqueFd& file, const fs::path& path, std::string_view bytes) {
  if (!write_all(file.get(), bytes)) throw_unwritable("write", path, errno);
}

void write_output(const fs::path& path, std::string_view bytes) {
  UniqueFd file = open_output(path);
  append_output(file, path, bytes);
  if (close(file.release()) != 0)
    throw_unwritable("write", path, errno);  // some disks tell only now
}

void place_output(const fs::path& from, const fs::path& folder, const std::string& name,
                  bool replace) {
  check_output_name(name);
  const fs::path to = folder / name;
  if (!is_there(from))
    throw Error(cat(to.string(), " cannot be made: there is no file ", from.string()),
                "the recipe must write a file of its own for each item");
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (error) throw_unwritable("make the folder", to.parent_path(), error.value());
  if (!replace && renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
    return;
  // Some disks have no such call.
  if (!replace && (errno == EEXIST || is_there(to)))
    throw Error(cat(to.string(), " is there already"),
                "name another folder with out=, or overwrite with --force");
  if (std::rename(from.c_str(), to.c_str()) != 0) throw_unwritable("write", to, errno);
}

}  // namespace lockstep
