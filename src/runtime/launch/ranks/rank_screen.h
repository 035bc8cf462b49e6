// Merges the output of all ranks into one text for people. Also makes plain lines for logs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/launch/output/line_splitter.h"

namespace lockstep {

// Each line begins with "[rank] ". Other ranks' lines are shown once they are complete, as they
// finally look. Users watch the progress bars of rank 0, so its lines that end with a carriage
// return are shown at once. On a terminal, the beginning of a line of rank 0, such as a question,
// is shown if the rest does not come within part_after_s.
class RankScreen {
 public:
  using Show = std::function<void(std::string_view)>;
  static constexpr double part_after_s = 0.1;

  RankScreen(std::size_t ranks, bool is_terminal, Show show);
  void add(std::size_t rank, std::string_view bytes, double now_s);  // now_s: monotonic
  std::optional<double> due_s() const;  // when on_time must show the beginning of a line
  void on_time(double now_s);
  void finish(std::size_t rank);  // shows text that has no newline at its end

 private:
  void show_live(std::string_view text);
  void show_line(std::size_t rank, std::string_view line);

  Show show_;
  bool is_terminal_;
  std::string live_;  // text of rank 0 that is not shown yet
  double live_since_s_ = 0;
  bool at_start_ = true;        // rank 0 is at the start of a line
  bool is_unfinished_ = false;  // rank 0's line on the screen has no newline yet
  std::vector<std::unique_ptr<LineSplitter>> lines_;  // one for each other rank; null for rank 0
};

// Makes lines without escape sequences, as they look once all carriage returns are applied.
class PlainLines {
 public:
  std::string add(std::string_view bytes);  // the lines that are now complete, with their newlines
  // Text after the last complete line. Empty if that text may still be rewritten. The line
  // continues after the returned text.
  std::string take_part();
  std::string finish();  // text after the last complete line

 private:
  // A longer line is cut here, so that memory stays bounded.
  static constexpr std::size_t most_in_a_line = 1 << 20;
  std::string rest_;
};

// One line, without its newline.
std::string plain_line(std::string_view line);

}  // namespace lockstep
