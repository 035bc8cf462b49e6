// Accesses files in a folder that another user may control, without leaving the folder.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

// Every path that it opens, makes, renames or removes lies in the folder. It follows no link,
// neither to a file nor to a folder on the way. Only the path of the folder itself may be a link.
//
// Paths are relative to the folder and have no "..". Unless noted, a failure returns false or an
// empty value, with the reason in errno. ELOOP or ENOTDIR means that a link is in the way.
class Beneath {
 public:
  explicit Beneath(std::filesystem::path folder);  // throws Error

  const std::filesystem::path& path() const { return path_; }

  UniqueFd open(const std::filesystem::path& below, int flags, mode_t mode = 0666) const;
  std::optional<struct stat> status(
      const std::filesystem::path& below) const;  // for a link, the status of the link itself
  std::vector<std::string> names_in(const std::filesystem::path& below) const;  // empty on an error
  // True also if the folder exists already.
  bool make_folder(const std::filesystem::path& below) const;
  // Also makes its parent folders.
  bool make_folders(const std::filesystem::path& below) const;
  // flags: those of renameat2.
  bool rename(const std::filesystem::path& from, const std::filesystem::path& to,
              unsigned flags = 0) const;
  // Moves a file from elsewhere on this file system into the folder.
  bool take(const std::filesystem::path& file, const std::filesystem::path& to,
            unsigned flags = 0) const;
  bool remove(const std::filesystem::path& file) const;  // removes a link itself, not its target
  // Whether the path is a folder that contains only files or links, and is_good is true for all
  // their names.
  bool holds_only_files(const std::filesystem::path& below,
                        const std::function<bool(const std::string&)>& is_good = {}) const;
  // Removes such a folder with its files. Any other folder is left as it is.
  bool remove_folder(const std::filesystem::path& below,
                     const std::function<bool(const std::string&)>& is_good = {}) const;
  bool sync(const std::filesystem::path& folder) const;

  // The first link in the path, which may be its last component. Nothing if there is none.
  std::optional<std::filesystem::path> link_to(const std::filesystem::path& below) const;
  // Throws Error for `error`, which is an errno. The message names a link in the path, if there is
  // one.
  [[noreturn]] void fail(std::string_view action, const std::filesystem::path& below,
                         int error) const;

 private:
  UniqueFd above(const std::filesystem::path& below) const;
  std::filesystem::path path_;
  std::shared_ptr<const UniqueFd> folder_;  // shared by all copies
};

// For tests: true makes Beneath behave as on a kernel without openat2.
void walk_beneath(bool walks);

}  // namespace lockstep
