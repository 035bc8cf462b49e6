// The launcher's view of one rank: its processes, its log and its output.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/launch/child_group.h"
#include "runtime/launch/output/line_splitter.h"
#include "runtime/launch/output/log_tail.h"
#include "runtime/launch/ranks/rank_log.h"
#include "runtime/launch/ranks/rank_screen.h"

namespace lockstep {

enum class StandardStream { out, err };

// The launcher's end of a pipe or pseudo-terminal to which a rank writes.
struct RankPipe {
  UniqueFd fd;
  StandardStream stream;
  std::function<void(std::string_view)> show{};  // shows bytes as they arrive; may be empty
};

// Reads a rank's output, and passes it to the log and to RankPipe::show. Each call reads a limited
// number of bytes, so that a rank that prints all the time does not block the launcher.
class RankProcess {
 public:
  // plain: whether the log gets lines without escape sequences (PlainLines). events: the launcher's
  // end of the rank's LOCKSTEP_EVENTS_FD; may be empty. take: receives each line of `events`.
  RankProcess(ChildGroup group, RankLog log, bool plain, std::vector<RankPipe> output,
              UniqueFd events, LineSplitter::Take take);

  ChildGroup& group() { return group_; }
  const ChildGroup& group() const { return group_; }
  // The descriptors to poll for reading. Output streams for which `waits` returns true are left
  // out.
  std::vector<int> fds(const std::function<bool(StandardStream)>& waits) const;
  // Reads the available bytes from these descriptors.
  void read(const std::function<bool(StandardStream)>& waits);
  // Logs the beginning of an unfinished line if nothing has followed it for a second.
  void keep_parts(double now_s);  // now_s: monotonic
  // Call it after the rank has ended. Reads the remaining output, and logs unfinished lines.
  void read_rest();
  const std::filesystem::path& log_path() const { return log_.path(); }
  std::string last_lines() const { return tail_.last_lines(20); }

 private:
  struct Source {
    RankPipe pipe;
    PlainLines lines{};
    bool has_news = false;  // bytes have arrived since the last keep_parts
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
