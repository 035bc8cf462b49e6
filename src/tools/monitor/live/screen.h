// Types for input and output of a full-screen view, independent of a terminal.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// The style of a text. The text is complete without its style, because a terminal may have no
// colour.
enum class Style { plain, bold, dim, good, warning, bad, head, selected };

struct Span {
  std::string text;  // result of clean_cells: one line, each character in one or two cells
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
  gone,  // the terminal has been closed; no further key will come
};

struct KeyPress {
  Key key = Key::none;
  char32_t character = 0;  // only for Key::character
};

}  // namespace lockstep
