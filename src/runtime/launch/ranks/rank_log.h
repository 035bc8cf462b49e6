// A rank's log. All starts append to it, and it never exceeds a limit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "core/base/files/fd.h"

namespace lockstep {

// When a log would exceed the limit, it keeps its first bytes up to half the limit, and its newest
// up to a quarter. A line between them counts the bytes left out. So the file keeps the beginning
// and the end.
class RankLog {
 public:
  // Opens FOLDER/rankN.log, created if absent. limit_bytes: 0: no limit. Throws Error.
  RankLog(const std::filesystem::path& folder, int rank, std::uint64_t limit_bytes);
  RankLog(std::filesystem::path file, std::uint64_t limit_bytes);  // for any other process
  const std::filesystem::path& path() const { return path_; }
  // Writes a line below the output of earlier starts. Writes nothing into an empty log.
  void divide(std::string_view line);
  // Bytes that a full disk rejects are lost: that must not end the run.
  void write(std::string_view bytes);

 private:
  void leave_out_the_middle(std::uint64_t size);
  std::uint64_t line_end_before(std::uint64_t place) const;

  std::filesystem::path path_;
  UniqueFd file_;
  std::uint64_t limit_bytes_;
  std::uint64_t head_bytes_ = 0;      // number of first bytes that always stay; 0: not known yet
  std::uint64_t left_out_bytes_ = 0;  // bytes that this object has left out
};

}  // namespace lockstep
