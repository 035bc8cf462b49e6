// Input and output of a full-screen view, independent of a terminal.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Colour only adds: the words alone say everything that a style says.
enum class Style { plain, bold, dim, good, warning, bad, head, selected };

struct Span {
  std::string text;  // as from clean_cells: one line, each character in one or two cells
  Style style = Style::plain;
};
using Line = std::vector<Span>;

enum class Key {
  none,  // no key came in time
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
  gone,  // the terminal is gone: no key will come any more
};

struct KeyPress {
  Key key = Key::none;
  char32_t character = 0;  // of Key::character
};

}  // namespace lockstep
