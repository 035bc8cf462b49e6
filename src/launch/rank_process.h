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
#include "launch/rank_screen.h"

namespace lockstep {

enum class StandardStream { out, err };

// A pipe or pseudo-terminal that a rank writes to, at our end.
struct RankPipe {
  UniqueFd fd;
  StandardStream stream;
  std::function<void(std::string_view)> show{};  // what comes, as it comes; may be empty
};

// Its output goes to its log, and to whoever shows it. Each call reads no more than
// so much, so that a rank that prints without pause leaves time for everything else.
class RankProcess {
 public:
  // plain: the log has lines without what only a terminal understands (PlainLines). events: the
  // rank's LOCKSTEP_EVENTS_FD, whose lines `take` gets; may be empty.
  RankProcess(ChildGroup group, RankLog log, bool plain, std::vector<RankPipe> output,
              UniqueFd events, LineSplitter::Take take);

  ChildGroup& group() { return group_; }
  const ChildGroup& group() const { return group_; }
  // The descriptors to read from, but for those of streams that `waits` names.
  std::vector<int> fds(const std::function<bool(StandardStream)>& waits) const;
  void read(const std::function<bool(StandardStream)>& waits);
  // What a rank has left without a newline for a moment goes to the log, too.
  void keep_parts(double now_s);  // monotonic
  // The same once the rank has ended, and what the log lacks of lines without their newlines.
  void read_rest();
  const std::filesystem::path& log_path() const { return log_.path(); }
  std::string last_lines() const { return tail_.last_lines(20); }

 private:
  struct Source {
    RankPipe pipe;
    PlainLines lines{};
    bool has_news = false;  // since the last keep_parts
    double quiet_since_s = 0;
  };
  std::size_t read(UniqueFd& fd, std::string& bytes);
  void read_output(Source& source, int most_reads);
  void read_events(int most_reads);
  void keep(std::string_view bytes);

  ChildGroup group_;
  RankLog log_;
  bool plain_;
  LogTail tail_;
  std::vector<Source> sources_;
  UniqueFd events_;
  LineSplitter event_lines_;
};

}  // namespace lockstep
