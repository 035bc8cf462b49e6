// Reads the text of a file, which may be plain text, compressed, or a JSON list.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "recipes/textgen/prepare/json_list.h"
#include "recipes/textgen/prepare/source_files.h"
#include "recipes/textgen/prepare/unpacked_file.h"

namespace lockstep::textgen {

// The text is decompressed, and has no byte order mark. If SourceFile::json is set and the file is
// a list, the text has a line for each element. Memory does not grow with the file. This class is
// not thread-safe.
class TextSource {
 public:
  explicit TextSource(const SourceFile& file);  // throws Error if reading fails

  bool is_list() const { return is_list_; }
  // Fills `out`, or a part of it at the end of the text. Returns the number of bytes. Throws Error,
  // which names the file, if the file cannot be read or is damaged.
  std::size_t read(std::span<char> out);
  void skip(std::int64_t bytes);  // skips the next bytes of the text

 private:
  void to_lines(std::string_view part);
  bool has_waiting();  // reads more of a list if waiting_ is empty

  std::filesystem::path path_;
  UnpackedFile file_;
  std::string part_, lines_;  // part_: the bytes that were read last; lines_: the same as lines
  std::string_view waiting_;  // the part of part_ or lines_ that read() has not yet returned
  bool is_list_ = false, list_ended_ = false;
  JsonListLines list_;
};

}  // namespace lockstep::textgen
