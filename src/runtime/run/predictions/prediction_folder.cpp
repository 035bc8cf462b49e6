// Temporary names, renames and locks of prediction outputs.
#include "runtime/run/predictions/prediction_folder.h"

#include "core/base/error.h"
#include "core/base/files/beneath.h"
#include "core/base/files/files.h"
#include "core/base/files/write_all.h"
#include "core/base/text/text.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace lockstep {
namespace fs = std::filesystem;
namespace {

constexpr const char* scratch_prefix = ".lockstep-predict-";
constexpr const char* lock_name = "lock";

[[noreturn]] void throw_unwritable(const std::string& what, const fs::path& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  throw Error(cat("cannot ", what, " ", path.string(), ": ", errno_text(error)),
              full ? "free some space, or name a folder on another disk with out="
                   : "name a folder that you can write to with out=");
}

// Opens and locks the file. It is opened for writing, because shared file systems need that for a
// lock. Returns an empty descriptor if another process holds the lock, or if the file cannot be
// opened or locked.
UniqueFd lock_file(const fs::path& file, int flags) {
  UniqueFd fd(open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0666));
  if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return fd;
}

// Removes folders of killed commands, which nobody locks any more. If the file system has no locks,
// the folders stay.
void remove_abandoned(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (!entry->path().filename().string().starts_with(scratch_prefix) ||
        !fs::is_directory(entry->symlink_status(ignored)))
      continue;
    if (lock_file(entry->path() / lock_name, 0)) fs::remove_all(entry->path(), ignored);
  }
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
                  there.size() == 1 ? "" : cat(", and ", there.size() - 1, " more")),
              "name another folder with out=, or overwrite with --force");
}

PredictionFolder::PredictionFolder(const fs::path& folder) : path_(folder) {
  try {
    make_directories(folder);
  } catch (const Error& error) {
    throw Error(error.what(), "name a folder that you can write to with out=");
  }
  remove_abandoned(folder);
  std::string name = (folder / cat(scratch_prefix, "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) throw_unwritable("write into", folder, errno);
  scratch_ = name;
  // The lock file gets its name after it is locked. Until then, no other process takes the folder
  // for abandoned.
  const fs::path lock = scratch_ / lock_name, unnamed = scratch_ / "lock-begun";
  lock_ = lock_file(unnamed, O_CREAT);
  std::rename(unnamed.c_str(), lock.c_str());
}

PredictionFolder::~PredictionFolder() {
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
}

namespace {

// Returns false if `to` exists already, with errno = EEXIST, or on another error, which errno
// states.
bool take_new(const Beneath& folder, const fs::path& from, const fs::path& to) {
  if (folder.take(from, to, RENAME_NOREPLACE)) return true;
  if (errno != EINVAL) return false;
  if (folder.status(to)) {  // some file systems lack RENAME_NOREPLACE
    errno = EEXIST;
    return false;
  }
  return folder.take(from, to);
}

}  // namespace

std::vector<std::string> PredictionFolder::keep_partial(
    const std::vector<std::string>& names) const {
  std::vector<std::string> kept;
  const Beneath folder(path_);
  for (const std::string& output : names) {
    const fs::path file = joint_folder(scratch_) / output;
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored) || fs::file_size(file, ignored) == 0) continue;
    const std::string wanted = output + partial_suffix;
    folder.make_folders(fs::path(wanted).parent_path());
    std::string name = wanted;
    bool placed = take_new(folder, file, name);
    for (int number = 2; !placed && errno == EEXIST; ++number) {
      name = cat(wanted, ".", number);
      placed = take_new(folder, file, name);
    }
    if (placed) kept.push_back(name);
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
    throw_unwritable("write", path, errno);  // some file systems report errors only now
}

void place_output(const fs::path& from, const fs::path& folder, const std::string& name,
                  bool replace) {
  if (const std::string fault = fault_of_output_name(name); !fault.empty())
    throw Error(fault, "the recipe gives outputs their names");
  const fs::path to = folder / name;
  const Beneath outputs(folder);
  const fs::path above = fs::path(name).parent_path();
  if (outputs.make_folders(above) &&
      (replace ? outputs.take(from, name) : take_new(outputs, from, name)))
    return;
  const int fault = errno;
  if (outputs.link_to(above)) outputs.fail("write", name, fault);
  if (!replace && fault == EEXIST) check_outputs_are_new(folder, {name});
  throw_unwritable("write", to, fault);
}

bool InputFiles::holds(const fs::path& output) {
  struct stat info {};
  if (lstat(output.c_str(), &info) != 0) return false;
  const std::pair there{info.st_dev, info.st_ino};
  if (!files_) {
    files_.emplace();
    const auto add = [&](const std::string& path) {
      for (const auto look : {stat, lstat})  // the file, and the link itself if the name is a link
        if (!path.empty() && look(path.c_str(), &info) == 0)
          files_->emplace(info.st_dev, info.st_ino);
    };
    for (const PredictItem& item : items_) {
      add(item.path);
      for (const std::string& file : item.further) add(file);
    }
  }
  return files_->contains(there);
}

}  // namespace lockstep
