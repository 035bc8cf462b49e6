// A file that gets its name only once it is complete.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/files/beneath.h"
#include "core/base/files/fd.h"

namespace lockstep {

// Writes a temporary file in the same folder as the final one. A process that is killed leaves only
// the temporary file, and the next NewFile in that folder removes it. Members that fail throw Error
// that names the file.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path);
  // The same, in a folder that another user may control. below: the final path in this folder.
  NewFile(Beneath folder, std::filesystem::path below);
  ~NewFile();  // removes the temporary file if commit was not called
  NewFile(NewFile&&) = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  std::filesystem::path path() const;            // the final path
  int fd() const { return fd_.get(); }           // the temporary file, open for reading and writing
  std::filesystem::path temporary_path() const;  // for libraries that open files by name
  void append(std::string_view bytes);
  // Gives the file its final name, and replaces an older file. durable: whether to sync the file
  // and the folder.
  void commit(bool durable = true);
  // Throws Error with the reason `error`, an errno.
  [[noreturn]] void fail(int error) const;

 private:
  Beneath folder_;
  std::filesystem::path path_, temporary_;  // both relative to folder_
  UniqueFd fd_;
};

}  // namespace lockstep
