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

// Every path that Beneath opens, makes, renames or removes lies in the folder. It follows no link,
// neither to a file nor to a folder in the path. Only the path of the folder itself may be a link.
//
// Paths are relative to the folder and must not contain "..". Unless noted otherwise, functions
// that fail return false or an empty value, and errno has the reason. ELOOP or ENOTDIR means that
// the path contains a link.
class Beneath {
 public:
  explicit Beneath(std::filesystem::path folder);  // throws Error if the folder cannot be opened

  const std::filesystem::path& path() const { return path_; }

  UniqueFd open(const std::filesystem::path& below, int flags, mode_t mode = 0666) const;
  std::optional<struct stat> status(
      // like lstat; for a link, the status of the link itself
      const std::filesystem::path& below) const;
  std::vector<std::string> names_in(const std::filesystem::path& below) const;  // empty on an error
  // Also returns true if the folder exists already.
  bool make_folder(const std::filesystem::path& below) const;
  // The same, but also makes missing parent folders.
  bool make_folders(const std::filesystem::path& below) const;
  // flags: as for renameat2.
  bool rename(const std::filesystem::path& from, const std::filesystem::path& to,
              unsigned flags = 0) const;
  // Moves a file into the folder. file: a path outside the folder, on the same file system.
  bool take(const std::filesystem::path& file, const std::filesystem::path& to,
            unsigned flags = 0) const;
  bool remove(const std::filesystem::path& file) const;  // removes a link itself, not its target
  // Whether `below` is a folder that contains only files and links, and is_good is true for all
  // their names.
  bool holds_only_files(const std::filesystem::path& below,
                        const std::function<bool(const std::string&)>& is_good = {}) const;
  // Removes a folder and the files in it, if holds_only_files is true for it. Changes nothing in
  // any other folder.
  bool remove_folder(const std::filesystem::path& below,
                     const std::function<bool(const std::string&)>& is_good = {}) const;
  bool sync(const std::filesystem::path& folder) const;

  // Returns the first component of the path that is a link, which may be the last component.
  // Returns nothing if no component is a link.
  std::optional<std::filesystem::path> link_to(const std::filesystem::path& below) const;
  // Throws Error with the reason `error`, an errno. If the path contains a link, the message names
  // it.
  [[noreturn]] void fail(std::string_view action, const std::filesystem::path& below,
                         int error) const;

 private:
  UniqueFd above(const std::filesystem::path& below) const;
  std::filesystem::path path_;
  std::shared_ptr<const UniqueFd> folder_;  // shared by all copies
};

// For tests: if true, Beneath behaves as on a kernel without openat2.
void walk_beneath(bool walks);

}  // namespace lockstep
