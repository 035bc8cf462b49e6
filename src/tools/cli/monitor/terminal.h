// A terminal for a full-screen view, using ncurses: draws lines, reads keys, knows its size.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/monitor/live/screen.h"

namespace lockstep::cli {

// Takes over standard input and output during its lifetime; only one may exist. The destructor
// restores the terminal. Install handlers for SIGINT and SIGTERM before; otherwise ncurses installs
// its own, which end the program. ncurses handles SIGTSTP and SIGWINCH. Other threads must block
// signals.
class Terminal {
 public:
  // Returns nothing if this terminal cannot be drawn on, with the reason in `why`.
  static std::unique_ptr<Terminal> open(std::string& why);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool utf8() const;  // whether it can show more than ASCII
  int width() const;  // in cells
  int height() const;
  // Updates the screen where it differs. Text must come from clean_cells; parts that do not fit are
  // left out.
  void draw(const std::vector<Line>& lines);
  // The next key; Key::none if none comes in time, Key::gone if the terminal is gone.
  KeyPress key(double timeout_s);

 private:
  struct State;
  explicit Terminal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::cli
