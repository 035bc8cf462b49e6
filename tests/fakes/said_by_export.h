// What an export tells those who get it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/run/checkpoint/export_file.h"

namespace lockstep::testing {

// Its record and the files in it, one after the other.
inline std::string said_by_export(const std::filesystem::path& file) {
  const Exported exported = read_export(file);
  std::string text = exported.record.dump();
  for (const auto& [name, content] : exported.files) text += "\n" + name + "\n" + content;
  return text;
}

}  // namespace lockstep::testing
