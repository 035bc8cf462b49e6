// Writes a zip archive entry by entry. Entries may have any size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "core/base/files/new_file.h"

namespace lockstep {

// Whether an entry may have this name. It must be a relative path in UTF-8 with / between its
// parts. `.`, `..`, backslashes and control characters are not allowed.
bool can_be_in_zip(const std::string& name);

enum class ZipMethod { store, deflate };

// The archive is written under a temporary name in the folder of `path`, and renamed in finish().
// So it exists completely and durably, or not at all. The same entries in the same order give the
// same bytes, because all entries have the date 1 January 1980. Use an object on one thread only.
// Every call throws Error if writing fails. After that, only the destructor may be called.
class ZipWriter {
 public:
  explicit ZipWriter(std::filesystem::path path);
  ~ZipWriter();  // removes the archive if finish() was not called
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  // name: see can_be_in_zip. Throws Error if the name is invalid, or if the archive has it already.
  void add(const std::string& name, std::string_view bytes, ZipMethod method = ZipMethod::deflate);
  void add_file(const std::string& name, const std::filesystem::path& file,
                ZipMethod method = ZipMethod::deflate);

  // To write an entry in chunks, call begin(), then write() any number of times, then end().
  // Archives above 4 GiB need a reader that supports zip64, as current programs do.
  void begin(const std::string& name, ZipMethod method = ZipMethod::deflate);
  void write(std::string_view bytes);
  void end();

  // Completes the archive, and renames it to `path`.
  void finish();

 private:
  void open_entry(const std::string& name, ZipMethod method, bool large);
  [[noreturn]] void fail(const std::string& action, int code) const;

  std::filesystem::path path_;
  NewFile file_;
  void* zip_ = nullptr;  // minizip's zipFile
  std::set<std::string> names_;
  bool entry_open_ = false;
};

}  // namespace lockstep
