// Merges the output of all ranks into one text for people. Also makes lines without escape
// sequences for logs.
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

// Each shown line begins with "[rank] ". Text of rank 0 is shown at once up to its last newline or
// carriage return, so that users can watch a progress bar. Lines of other ranks are shown when they
// are complete, in their final form. On a terminal, an unfinished line of rank 0, such as a
// question, is shown if nothing follows it within part_after_s.
class RankScreen {
 public:
  using Show = std::function<void(std::string_view)>;
  static constexpr double part_after_s = 0.1;

  RankScreen(std::size_t ranks, bool is_terminal, Show show);
  void add(std::size_t rank, std::string_view bytes, double now_s);  // now_s: monotonic
  // when to call on_time; nothing if there is no unfinished line
  std::optional<double> due_s() const;
  // Shows an unfinished line of rank 0 if its time has come.
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

// Turns output into lines without escape sequences. If carriage returns rewrite a text, only its
// final form is kept.
class PlainLines {
 public:
  std::string add(std::string_view bytes);  // the lines that are now complete, with their newlines
  // Returns the text after the last complete line, and continues the line after it. Returns an
  // empty text if a carriage return may still rewrite the text.
  std::string take_part();
  std::string finish();  // returns the text after the last complete line

 private:
  // A longer line is cut here, so that memory stays bounded.
  static constexpr std::size_t most_in_a_line = 1 << 20;
  std::string rest_;
};

// Returns one line as PlainLines makes it. line: without its newline.
std::string plain_line(std::string_view line);

}  // namespace lockstep
