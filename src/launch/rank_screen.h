// What the ranks print as one text for people, and without what only a terminal understands.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/line_splitter.h"

namespace lockstep {

// Each line begins with "[rank] ". Of rank 0, whose progress bars people watch, also lines that end
// with a carriage return are shown at once, and on a terminal parts of a line, such as a question,
// as soon as no more has come for a moment. Of the others whole lines, as they look at their end.
class RankScreen {
 public:
  using Show = std::function<void(std::string_view)>;
  static constexpr double part_after_s = 0.1;

  RankScreen(std::size_t ranks, bool is_terminal, Show show);
  void add(std::size_t rank, std::string_view bytes, double now_s);  // times: monotonic
  std::optional<double> due_s() const;  // when on_time has a part of a line to show
  void on_time(double now_s);
  void finish(std::size_t rank);  // what lacks its newline

 private:
  void show_live(std::string_view text);
  void show_line(std::size_t rank, std::string_view line);

  Show show_;
  bool is_terminal_;
  std::string live_;  // of rank 0, not shown yet
  double live_since_s_ = 0;
  bool at_start_ = true;        // of a line of rank 0
  bool is_unfinished_ = false;  // rank 0's line on the screen lacks its newline
  std::vector<std::unique_ptr<LineSplitter>> lines_;  // of the other ranks; null for rank 0
};

// Lines without escape sequences, and as they look once all carriage returns have been obeyed.
class PlainLines {
 public:
  std::string add(std::string_view bytes);  // the whole lines so far, with their newlines
  // What came after the last of them, but for what may yet be rewritten; the line goes on behind
  // it.
  std::string take_part();
  std::string finish();  // what came after the last of them

 private:
  // A line that never ends is cut here, so that memory stays bounded.
  static constexpr std::size_t most_in_a_line = 1 << 20;
  std::string rest_;
};

// One line, without its newline.
std::string plain_line(std::string_view line);

}  // namespace lockstep
