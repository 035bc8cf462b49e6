// A file that gets its name only once it is complete.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/files/beneath.h"
#include "core/base/files/fd.h"

namespace lockstep {

// Writes a temporary file in the same folder as the final one. A killed process leaves only the
// temporary file, and the next NewFile in that folder removes it. All members throw Error that
// names the file.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path);
  // Makes the file in a folder that another user may control.
  NewFile(Beneath folder, std::filesystem::path below);
  ~NewFile();  // removes a file that was not committed
  NewFile(NewFile&&) = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  std::filesystem::path path() const;            // the final path
  int fd() const { return fd_.get(); }           // open for reading and writing
  std::filesystem::path temporary_path() const;  // for libraries that open files by name
  void append(std::string_view bytes);
  // Gives the file its name, and replaces an older file. durable: syncs the file and the folder.
  void commit(bool durable = true);
  // Throws Error for `error`, which is an errno.
  [[noreturn]] void fail(int error) const;

 private:
  Beneath folder_;
  std::filesystem::path path_, temporary_;  // both relative to folder_
  UniqueFd fd_;
};

}  // namespace lockstep
