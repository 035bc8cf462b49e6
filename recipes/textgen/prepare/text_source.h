// Reads the text of a file in any form.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "recipes/textgen/prepare/json_list.h"
#include "recipes/textgen/prepare/source_files.h"
#include "recipes/textgen/prepare/unpacked_file.h"

namespace lockstep::textgen {

// The text is unpacked, without a byte order mark. A list of JSON (of a file `json`) is returned as
// lines, one per element. Memory does not grow with the file. Not thread-safe.
class TextSource {
 public:
  explicit TextSource(const SourceFile& file);  // throws Error

  bool is_list() const { return is_list_; }
  // Reads as many bytes as exist; fewer than requested only at the end. Throws Error, which names
  // the file.
  std::size_t read(std::span<char> out);
  void skip(std::int64_t bytes);  // has the same effect as reading that many bytes

 private:
  void to_lines(std::string_view part);
  bool has_waiting();  // for a list: reads more of it if needed

  std::filesystem::path path_;
  UnpackedFile file_;
  std::string part_, lines_;  // read last; of a list: the lines of that
  std::string_view waiting_;  // the part of them that was not returned yet
  bool is_list_ = false, list_ended_ = false;
  JsonListLines list_;
};

}  // namespace lockstep::textgen
