// A file of an export, written in chunks and present whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/files/new_file.h"

namespace lockstep {

class ExportFile {
 public:
  // Creates the folder too. Throws Error. Without finish(), nothing of the file remains.
  explicit ExportFile(const std::filesystem::path& path);

  void write(std::string_view bytes);  // throws Error
  void finish();                       // replaces an older file; throws Error

 private:
  void flush();

  NewFile file_;
  std::string pending_;
};

}  // namespace lockstep
