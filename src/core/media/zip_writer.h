// Writes a zip archive entry by entry, whatever their size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "core/base/files/new_file.h"

namespace lockstep {

// Whether the name is relative UTF-8 with / between folders, without `..`, backslash and control
// characters.
bool can_be_in_zip(const std::string& name);

enum class ZipMethod { store, deflate };

// The archive grows under a temporary name beside `path` and takes its name in finish(). So it
// exists whole and durably, or not at all. Entries of the same contents in the same order give the
// same bytes: all are dated 1 January 1980. One thread. Every call throws Error if the disk cannot
// be written; the writer must not be used after that.
class ZipWriter {
 public:
  explicit ZipWriter(std::filesystem::path path);
  ~ZipWriter();  // without finish(): removes everything
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  // name: see can_be_in_zip. Throws Error for an invalid name, and for one that exists already.
  void add(const std::string& name, std::string_view bytes, ZipMethod method = ZipMethod::deflate);
  void add_file(const std::string& name, const std::filesystem::path& file,
                ZipMethod method = ZipMethod::deflate);

  // Writes an entry in chunks: begin, write any number of times, end. Archives above 4 GiB need
  // readers that know zip64 (all of today's do).
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
