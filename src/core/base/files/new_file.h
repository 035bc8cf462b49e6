// A file that gets its name only once it is complete.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/files/beneath.h"
#include "core/base/files/fd.h"

namespace lockstep {

// Writes to a temporary name beside its final place. A kill leaves only the temporary file, and the
// next NewFile in that folder removes it. All members throw Error, which names the file.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path);
  // Makes the file in a folder that may belong to somebody else.
  NewFile(Beneath folder, std::filesystem::path below);
  ~NewFile();  // removes a file that was not committed
  NewFile(NewFile&&) = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  std::filesystem::path path() const;            // the final path
  int fd() const { return fd_.get(); }           // for reading and writing
  std::filesystem::path temporary_path() const;  // for libraries that open files by name
  void append(std::string_view bytes);
  // Replaces an older file. durable: syncs the file and the folder.
  void commit(bool durable = true);
  // Throws Error for an errno.
  [[noreturn]] void fail(int error) const;

 private:
  Beneath folder_;
  std::filesystem::path path_, temporary_;  // both below the folder
  UniqueFd fd_;
};

}  // namespace lockstep
