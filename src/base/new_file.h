// A file that gets its name when it is whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/beneath.h"
#include "base/fd.h"

namespace lockstep {

// Lies beside its later place under a temporary name. A kill leaves only that, which the next one
// who makes a file in that folder removes. All throw Error, which names the file.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path);
  // In a folder that may be somebody else's.
  NewFile(Beneath folder, std::filesystem::path below);
  ~NewFile();  // nothing is left of one that was not committed
  NewFile(NewFile&&) = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  std::filesystem::path path() const;            // its own, later
  int fd() const { return fd_.get(); }           // for reading and writing
  std::filesystem::path temporary_path() const;  // for libraries that open files by name
  void append(std::string_view bytes);
  // In place of an older one. durable: with fsync of the file, and of the folder.
  void commit(bool durable = true);
  // Of what errno says.
  [[noreturn]] void fail(int error) const;

 private:
  Beneath folder_;
  std::filesystem::path path_, temporary_;  // below the folder
  UniqueFd fd_;
};

}  // namespace lockstep
