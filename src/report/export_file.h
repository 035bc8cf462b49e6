// A file of an export, written piece by piece and there whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace lockstep {

class ExportFile {
 public:
  explicit ExportFile(std::filesystem::path path);  // throws Error
  ~ExportFile();                                    // unfinished: nothing is left
  ExportFile(const ExportFile&) = delete;
  ExportFile& operator=(const ExportFile&) = delete;

  void write(std::string_view bytes);  // throws Error
  void finish();                       // in place of an older one; throws Error

 private:
  void flush();

  std::filesystem::path path_, temporary_;
  UniqueFd file_;
  std::string pending_;
};

}  // namespace lockstep
