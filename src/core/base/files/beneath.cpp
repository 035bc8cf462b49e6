#include "core/base/files/beneath.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <utility>

#include "core/base/errno_hint.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

std::atomic<bool> always_walks{false};

// Opens the path part by part, for kernels before 5.6 and for containers without openat2.
UniqueFd open_walking(int folder, const fs::path& below, int flags, mode_t mode) {
  UniqueFd above;
  const auto last = std::prev(below.end());
  for (auto part = below.begin(); part != last; ++part) {
    const int from = above ? above.get() : folder;
    UniqueFd next(::openat(from, part->c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return {};
    above = std::move(next);
  }
  return UniqueFd(
      ::openat(above ? above.get() : folder, last->c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode));
}

UniqueFd open_from(int folder, const fs::path& below, int flags, mode_t mode) {
  const bool leads_out =
      below.is_absolute() || std::find(below.begin(), below.end(), "..") != below.end();
  if (below.empty() || leads_out) {
    errno = EXDEV;
    return {};
  }
  if (!always_walks) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
    how.mode = (flags & O_CREAT) != 0 ? mode : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    constexpr int most_tries = 100;  // EAGAIN means that a path was renamed meanwhile
    for (int tries = 0; tries < most_tries; ++tries) {
      const long fd = ::syscall(SYS_openat2, folder, below.c_str(), &how, sizeof how);
      if (fd >= 0) return UniqueFd(static_cast<int>(fd));
      if (errno != EAGAIN) break;
    }
    if (errno != ENOSYS && errno != EPERM && errno != EAGAIN) return {};
  }
  return open_walking(folder, below, flags, mode);
}

// Returns nothing on an error.
std::optional<std::vector<std::string>> names_of(const UniqueFd& open_folder) {
  UniqueFd own(::fcntl(open_folder.get(), F_DUPFD_CLOEXEC, 0));
  if (!own) return std::nullopt;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(own.get()), ::closedir);
  if (!folder) return std::nullopt;
  static_cast<void>(own.release());
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get()))
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  if (errno != 0) return std::nullopt;
  return names;
}

// The names in a folder if all are good files or links. Nothing if the folder holds anything else.
std::optional<std::vector<std::string>> good_files_of(
    const UniqueFd& folder, const std::function<bool(const std::string&)>& is_good) {
  auto names = names_of(folder);
  if (!names) return std::nullopt;
  for (const std::string& name : *names) {
    struct stat found {};
    if (::fstatat(folder.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISDIR(found.st_mode) && (!is_good || is_good(name)))
      continue;
    errno = ENOTEMPTY;
    return std::nullopt;
  }
  return names;
}

}  // namespace

void walk_beneath(bool walks) { always_walks = walks; }

Beneath::Beneath(fs::path folder) : path_(std::move(folder)) {
  if (path_.empty()) path_ = ".";
  folder_ = std::make_shared<UniqueFd>(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!*folder_)
    throw Error(cat("cannot open the folder ", path_.string(), ": ", errno_text(errno)),
                "check that it is there, and that you may enter it");
}

std::optional<fs::path> Beneath::link_to(const fs::path& below) const {
  fs::path way;
  for (const fs::path& part : below) {
    way /= part;
    const auto found = status(way);
    if (!found) return std::nullopt;
    if (S_ISLNK(found->st_mode)) return way;
  }
  return std::nullopt;
}

void Beneath::fail(std::string_view action, const fs::path& below, int error) const {
  const std::string place = (path_ / below).string();
  if (const auto link = link_to(below))
    throw Error(cat("cannot ", action, " ", place, ": ", (path_ / *link).string(), " is a link"),
                cat("nothing is written through a link in ", path_.string(),
                    "; put the folder or file itself in its place"));
  throw Error(cat("cannot ", action, " ", place, ": ", errno_text(error)), errno_hint(error));
}

UniqueFd Beneath::open(const fs::path& below, int flags, mode_t mode) const {
  return open_from(folder_->get(), below, flags, mode);
}

// Opens the parent folder of `below`.
UniqueFd Beneath::above(const fs::path& below) const {
  const fs::path folder = below.parent_path();
  return open_from(folder_->get(), folder.empty() ? "." : folder, O_PATH | O_DIRECTORY, 0);
}

std::optional<struct stat> Beneath::status(const fs::path& below) const {
  const UniqueFd folder = above(below);
  struct stat found {};
  if (!folder ||
      ::fstatat(folder.get(), below.filename().c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  return found;
}

std::vector<std::string> Beneath::names_in(const fs::path& below) const {
  const UniqueFd folder = open(below, O_RDONLY | O_DIRECTORY);
  if (!folder) return {};
  return names_of(folder).value_or(std::vector<std::string>{});
}

bool Beneath::make_folder(const fs::path& below) const {
  const UniqueFd folder = above(below);
  if (!folder) return false;
  if (::mkdirat(folder.get(), below.filename().c_str(), 0777) == 0) return true;
  if (errno != EEXIST) return false;
  return static_cast<bool>(open(below, O_PATH | O_DIRECTORY));
}

bool Beneath::make_folders(const fs::path& below) const {
  fs::path made;
  for (const fs::path& part : below)
    if (!make_folder(made /= part)) return false;
  return true;
}

bool Beneath::rename(const fs::path& from, const fs::path& to, unsigned flags) const {
  const UniqueFd from_folder = above(from), to_folder = above(to);
  return from_folder && to_folder &&
         ::renameat2(from_folder.get(), from.filename().c_str(), to_folder.get(),
                     to.filename().c_str(), flags) == 0;
}

bool Beneath::take(const fs::path& file, const fs::path& to, unsigned flags) const {
  const UniqueFd folder = above(to);
  return folder &&
         ::renameat2(AT_FDCWD, file.c_str(), folder.get(), to.filename().c_str(), flags) == 0;
}

bool Beneath::remove(const fs::path& file) const {
  const UniqueFd folder = above(file);
  return folder && ::unlinkat(folder.get(), file.filename().c_str(), 0) == 0;
}

bool Beneath::holds_only_files(const fs::path& below,
                               const std::function<bool(const std::string&)>& is_good) const {
  const UniqueFd folder = open(below, O_RDONLY | O_DIRECTORY);
  return folder && good_files_of(folder, is_good);
}

bool Beneath::remove_folder(const fs::path& below,
                            const std::function<bool(const std::string&)>& is_good) const {
  const UniqueFd folder = open(below, O_RDONLY | O_DIRECTORY);
  if (!folder) return false;
  const auto names = good_files_of(folder, is_good);
  if (!names) return false;
  for (const std::string& name : *names)
    if (::unlinkat(folder.get(), name.c_str(), 0) != 0) return false;
  const UniqueFd parent = above(below);
  return parent && ::unlinkat(parent.get(), below.filename().c_str(), AT_REMOVEDIR) == 0;
}

// Some network file systems cannot sync a folder and return EINVAL. Nothing more can be done then.
bool Beneath::sync(const fs::path& folder) const {
  const UniqueFd fd = open(folder, O_RDONLY | O_DIRECTORY);
  return fd && (::fsync(fd.get()) == 0 || errno == EINVAL);
}

}  // namespace lockstep
