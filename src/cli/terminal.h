// A terminal as a full-screen view needs it, over ncurses: draws lines, reads keys, knows its size.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "monitor/screen.h"

namespace lockstep::cli {

// Standard input and output are a terminal's while it lives; one at a time. The destructor puts the
// terminal back as it was. Handlers for SIGINT and SIGTERM must be there before, or ncurses has its
// own, which end the program; SIGTSTP and SIGWINCH are ncurses'. Other threads must block signals.
class Terminal {
 public:
  // Nothing where this terminal cannot be drawn on: why says so.
  static std::unique_ptr<Terminal> open(std::string& why);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool utf8() const;  // whether it shows more than ASCII
  int width() const;  // in cells
  int height() const;
  // Sends what is not on the screen yet. Text as of clean_cells; what does not fit is left out.
  void draw(const std::vector<Line>& lines);
  // The next key; Key::none if none comes in time, Key::gone where the terminal is not there any
  // more.
  KeyPress key(double timeout_s);

 private:
  struct State;
  explicit Terminal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::cli
