// A file of an export, written piece by piece and there whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/new_file.h"

namespace lockstep {

class ExportFile {
 public:
  // Makes the folder, too. Throws Error. Unfinished, nothing of the file is left.
  explicit ExportFile(const std::filesystem::path& path);

  void write(std::string_view bytes);  // throws Error
  void finish();                       // in place of an older one; throws Error

 private:
  void flush();

  NewFile file_;
  std::string pending_;
};

}  // namespace lockstep
