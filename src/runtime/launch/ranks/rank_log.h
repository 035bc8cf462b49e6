// A rank's log with a size limit. If a run is resumed, the log continues.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "core/base/files/fd.h"

namespace lockstep {

// When the log would exceed the limit, its middle is removed. The log keeps its first bytes, up to
// half the limit, and its newest bytes, up to a quarter of the limit. A line between them tells how
// many bytes were removed.
class RankLog {
 public:
  // Opens FOLDER/rankN.log, and creates it if it is missing. limit_bytes: 0 = no limit. Throws
  // Error if the log cannot be opened.
  RankLog(const std::filesystem::path& folder, int rank, std::uint64_t limit_bytes);
  // opens the log of a process that is not a rank
  RankLog(std::filesystem::path file, std::uint64_t limit_bytes);
  const std::filesystem::path& path() const { return path_; }
  // Writes a line that separates earlier output from the output that follows. Writes nothing into
  // an empty log.
  void divide(std::string_view line);
  // Appends bytes. If that fails, for example because the disk is full, the bytes are lost, but the
  // run continues.
  void write(std::string_view bytes);

 private:
  void leave_out_the_middle(std::uint64_t size);
  std::uint64_t line_end_before(std::uint64_t place) const;

  std::filesystem::path path_;
  UniqueFd file_;
  std::uint64_t limit_bytes_;
  // number of bytes at the beginning that are always kept; 0 = not determined yet
  std::uint64_t head_bytes_ = 0;
  std::uint64_t left_out_bytes_ = 0;  // bytes that this object has removed
};

}  // namespace lockstep
