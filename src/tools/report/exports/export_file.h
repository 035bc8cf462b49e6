// Writes a file of an export in chunks. The file exists either whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/files/new_file.h"

namespace lockstep {

class ExportFile {
 public:
  // Creates the folder of the file if necessary. Without finish(), no file remains. Throws Error if
  // the file cannot be created.
  explicit ExportFile(const std::filesystem::path& path);

  void write(std::string_view bytes);  // throws Error if writing fails
  // Makes the file appear, in place of an older file of that name. Throws Error if that fails.
  void finish();

 private:
  void flush();

  NewFile file_;
  std::string pending_;
};

}  // namespace lockstep
