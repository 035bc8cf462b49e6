// A file that appears under its name whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/fd.h"

namespace lockstep::volume {

// Written under a temporary name beside it, which the destructor removes unless commit() was
// reached.
class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);  // throws Error
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  int fd() const { return fd_.get(); }  // read and write
  void append(std::string_view bytes);  // throws Error
  // fsync (unless the file can be made again) and rename; throws Error.
  void commit(bool durable = true);
  [[noreturn]] void fail(int error) const;  // an Error of that errno

 private:
  std::filesystem::path path_, temporary_;
  UniqueFd fd_;
};

}  // namespace lockstep::volume
