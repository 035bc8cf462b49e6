// How much room text takes on a terminal, which counts in cells: a wide character takes two. All
// that aligns, cuts or wraps text for a terminal measures it here.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// Fit for a grid of cells: printable, and without what then takes no cell of its own, such as a
// mark on the character before.
std::string clean_cells(std::string_view text);

// 0, 1 or 2: a mark on the character before takes none. What `printable` shows as an escape takes
// as many as that.
int cells_of(char32_t character);
int cells_of(std::string_view text);

// The beginning that fits into `width` cells; where something is cut off, with `mark` at its end.
std::string cut_cells(std::string_view text, int width, std::string_view mark = "");
// Filled with spaces on its right, or on its left; never cut.
std::string pad_cells(std::string_view text, int width);
std::string pad_cells_left(std::string_view text, int width);
// Cut, and filled.
std::string fill_cells(std::string_view text, int width, std::string_view mark = "");
std::string fill_cells_left(std::string_view text, int width, std::string_view mark = "");

// `head` and the words of `text` behind it; where a line would take more than `width` cells it goes
// on below the first word. No word is broken. Ends with a newline.
std::string hang_cells(std::string_view head, std::string_view text, int width);

// In lines of at most `width` cells, at spaces where there are some; newlines stay.
std::string wrap_cells(std::string_view text, int width);

}  // namespace lockstep
