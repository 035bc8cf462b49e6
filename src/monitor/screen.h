// What a full-screen view draws and is told, without a terminal.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Colour only adds: what a style says is in the words too.
enum class Style { plain, bold, dim, good, warning, bad, head, selected };

struct Span {
  std::string text;  // as of clean_cells: one line, each character one cell or two
  Style style = Style::plain;
};
using Line = std::vector<Span>;

enum class Key {
  none,  // none came in time
  character,
  up,
  down,
  page_up,
  page_down,
  home,
  end,
  enter,
  escape,
  backspace,
  resize,
  gone,  // the terminal is: nothing will come any more
};

struct KeyPress {
  Key key = Key::none;
  char32_t character = 0;  // of Key::character
};

}  // namespace lockstep
