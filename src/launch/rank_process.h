// One rank of a run: its processes, its log, and what it writes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/child_group.h"
#include "launch/line_splitter.h"
#include "launch/log_tail.h"
#include "launch/rank_log.h"

namespace lockstep {

enum class StandardStream { out, err };

// A pipe that a rank writes to, at our end.
struct RankPipe {
  UniqueFd fd;
  StandardStream stream;
  LineSplitter::Take take{};  // each line, without its newline; may be empty
};

// Its output goes to its log, and line by line to whoever takes it. Each call reads no more than
// so much, so that a rank that prints without pause leaves time for everything else.
class RankProcess {
 public:
  // events: the rank's LOCKSTEP_EVENTS_FD; may be empty.
  RankProcess(ChildGroup group, RankLog log, std::vector<RankPipe> output, RankPipe events);

  ChildGroup& group() { return group_; }
  const ChildGroup& group() const { return group_; }
  // The descriptors to read from, but for those of streams that `waits` names.
  std::vector<int> fds(const std::function<bool(StandardStream)>& waits) const;
  void read(const std::function<bool(StandardStream)>& waits);
  // The same once the rank has ended, and the last lines though they lack their newlines.
  void read_rest();
  const std::filesystem::path& log_path() const { return log_.path(); }
  std::string last_lines() const { return tail_.last_lines(20); }

 private:
  struct Source {
    Source(RankPipe pipe, bool is_output);
    UniqueFd fd;
    StandardStream stream;
    bool is_output;  // goes to the log
    bool has_lines;
    LineSplitter lines;
  };
  void read(Source& source, int most_reads);

  ChildGroup group_;
  RankLog log_;
  LogTail tail_;
  std::vector<Source> sources_;
};

}  // namespace lockstep
