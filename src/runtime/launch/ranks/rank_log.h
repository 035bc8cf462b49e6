// A rank's log with a size limit. All starts of a run append to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "core/base/files/fd.h"

namespace lockstep {

// When a log would exceed the limit, its middle is removed. It keeps its first bytes up to half the
// limit, and its newest bytes up to a quarter. A line between them counts the removed bytes.
class RankLog {
 public:
  // Opens FOLDER/rankN.log, and creates it if it is missing. limit_bytes: 0 = no limit. Throws
  // Error.
  RankLog(const std::filesystem::path& folder, int rank, std::uint64_t limit_bytes);
  RankLog(std::filesystem::path file, std::uint64_t limit_bytes);  // the log of any other process
  const std::filesystem::path& path() const { return path_; }
  // Writes a line below the output of earlier starts. Writes nothing into an empty log.
  void divide(std::string_view line);
  // Appends bytes. If the disk is full, they are lost, because that must not end the run.
  void write(std::string_view bytes);

 private:
  void leave_out_the_middle(std::uint64_t size);
  std::uint64_t line_end_before(std::uint64_t place) const;

  std::filesystem::path path_;
  UniqueFd file_;
  std::uint64_t limit_bytes_;
  // how many of the first bytes are always kept; 0 = not determined yet
  std::uint64_t head_bytes_ = 0;
  std::uint64_t left_out_bytes_ = 0;  // bytes that this object has removed
};

}  // namespace lockstep
