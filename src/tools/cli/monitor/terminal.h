// A terminal for a full-screen view, through ncurses. It draws lines, reads keys and reports its
// size.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/monitor/live/screen.h"

namespace lockstep::cli {

// Takes over standard input and output during its lifetime; only one object may exist. The
// destructor restores the terminal. Install handlers for SIGINT and SIGTERM before open(); if there
// are none, ncurses installs handlers that end the program. ncurses handles SIGTSTP and SIGWINCH.
// Other threads must block signals.
class Terminal {
 public:
  // Returns null if this terminal cannot be drawn on, and writes the reason into `why`.
  static std::unique_ptr<Terminal> open(std::string& why);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool utf8() const;  // whether the terminal can show more than ASCII
  int width() const;  // in terminal cells
  int height() const;
  // Updates the parts of the screen that differ from `lines`. All text must come from clean_cells.
  // Parts that do not fit are left out.
  void draw(const std::vector<Line>& lines);
  // Waits for the next key. Returns Key::none if none comes within `timeout_s`, and Key::gone if
  // the terminal has been closed.
  KeyPress key(double timeout_s);

 private:
  struct State;
  explicit Terminal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::cli
