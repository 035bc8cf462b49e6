// One rank of a run: its processes, its log, and what it writes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "launch/child_group.h"
#include "launch/lines.h"

namespace lockstep {

// Where a rank's output goes; opened before it starts.
struct RankLog {
  std::filesystem::path path;
  UniqueFd file;           // appending
  std::uint64_t from = 0;  // where this start's part begins
};
RankLog open_log(const std::filesystem::path& folder, int rank);  // throws Error

class RankProcess {
 public:
  // output: what the rank writes, to be copied to its log and line by line to `forward`; may be
  // empty if the rank writes to its log itself.
  RankProcess(ChildGroup group, RankLog log, UniqueFd output, Lines::Take forward);

  ChildGroup& group() { return group_; }
  const ChildGroup& group() const { return group_; }
  int output_fd() const { return output_.get(); }  // -1: none, or at its end
  void copy_output();                              // what can be read without waiting
  void finish_output();  // the same, and the last line though it lacks its newline
  std::string last_lines() const;

 private:
  ChildGroup group_;
  RankLog log_;
  UniqueFd output_;
  Lines lines_;
};

}  // namespace lockstep
