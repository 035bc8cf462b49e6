// Merges the ranks' output into one text for people, without what only a terminal understands.
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

// Each line begins with "[rank] ". People watch rank 0's progress bars, so its lines that end with
// a carriage return are shown at once. On a terminal a part of a line, such as a question, is shown
// as soon as no more has come for a moment. Lines of other ranks are shown whole, as they look when
// they are complete.
class RankScreen {
 public:
  using Show = std::function<void(std::string_view)>;
  static constexpr double part_after_s = 0.1;

  RankScreen(std::size_t ranks, bool is_terminal, Show show);
  void add(std::size_t rank, std::string_view bytes, double now_s);  // times: monotonic
  std::optional<double> due_s() const;  // when on_time has a partial line to show
  void on_time(double now_s);
  void finish(std::size_t rank);  // shows the text that lacks its newline

 private:
  void show_live(std::string_view text);
  void show_line(std::size_t rank, std::string_view line);

  Show show_;
  bool is_terminal_;
  std::string live_;  // text of rank 0, not shown yet
  double live_since_s_ = 0;
  bool at_start_ = true;        // rank 0 is at the start of a line
  bool is_unfinished_ = false;  // rank 0's line on the screen lacks its newline
  std::vector<std::unique_ptr<LineSplitter>> lines_;  // for the other ranks; null for rank 0
};

// Lines without escape sequences, as they look once all carriage returns are applied.
class PlainLines {
 public:
  std::string add(std::string_view bytes);  // the complete lines so far, with their newlines
  // Text after the last complete line, without what may yet be rewritten. The line continues after
  // it.
  std::string take_part();
  std::string finish();  // text after the last complete line

 private:
  // An endless line is cut at this length, so that memory stays bounded.
  static constexpr std::size_t most_in_a_line = 1 << 20;
  std::string rest_;
};

// One line, without its newline.
std::string plain_line(std::string_view line);

}  // namespace lockstep
