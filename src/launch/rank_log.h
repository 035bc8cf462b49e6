// A rank's log: appended to over starts, and never larger than a limit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/fd.h"

namespace lockstep {

// Once a log would grow beyond the limit, its first half stays, and of the rest the newest quarter;
// between them a line says how much was left out. So the file keeps how it began and how it ended.
class RankLog {
 public:
  // Opens FOLDER/rankN.log, made if absent. limit_bytes: 0: none. Throws Error.
  RankLog(const std::filesystem::path& folder, int rank, std::uint64_t limit_bytes);
  RankLog(std::filesystem::path file, std::uint64_t limit_bytes);  // of any other process
  const std::filesystem::path& path() const { return path_; }
  // What a full disk does not take is lost: it must not end the run.
  void write(std::string_view bytes);

 private:
  void leave_out_the_middle(std::uint64_t size);
  std::uint64_t line_end_before(std::uint64_t place) const;

  std::filesystem::path path_;
  UniqueFd file_;
  std::uint64_t limit_bytes_;
  std::uint64_t head_bytes_ = 0;      // that stay; 0: not known yet
  std::uint64_t left_out_bytes_ = 0;  // by this object
};

}  // namespace lockstep
