// Writes a zip archive, entry by entry, whatever their size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "base/new_file.h"

namespace lockstep {

// Relative, with / between folders, UTF-8; not absolute, without `..`, backslash and control
// characters.
bool can_be_in_zip(const std::string& name);

enum class ZipMethod { store, deflate };

// The archive grows under a temporary name beside `path` and takes its name in finish(): it is
// there whole and durably, or not at all. Entries of the same contents in the same order give the
// same bytes: all carry 1 January 1980. One thread. Every call throws Error where the disk cannot
// be written; the writer is of no use then.
class ZipWriter {
 public:
  explicit ZipWriter(std::filesystem::path path);
  ~ZipWriter();  // without finish(): nothing is left
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  // name: as of can_be_in_zip. Throws Error for another one, and for one that is there already.
  void add(const std::string& name, std::string_view bytes, ZipMethod method = ZipMethod::deflate);
  void add_file(const std::string& name, const std::filesystem::path& file,
                ZipMethod method = ZipMethod::deflate);

  // An entry in pieces: begin, write any number of times, end. Beyond 4 GiB archives are read by
  // programs that know zip64 (all of today's).
  void begin(const std::string& name, ZipMethod method = ZipMethod::deflate);
  void write(std::string_view bytes);
  void end();

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
