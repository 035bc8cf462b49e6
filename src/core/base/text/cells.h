// Measures text on a terminal in cells (columns). A wide character takes two cells. All code that
// aligns, cuts or wraps text for a terminal uses these functions.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// Returns the text in a form in which each character takes at least one cell. `printable` is
// applied, and characters without a cell of their own, such as combining marks, are removed.
std::string clean_cells(std::string_view text);

// Returns the number of cells. It is 1 for most characters, 2 for a wide character and 0 for a
// combining mark. For a character that `printable` escapes, it is the length of the escape.
int cells_of(char32_t character);
int cells_of(std::string_view text);

// Returns the longest prefix that fits into `width` cells. If the text is cut, the result ends with
// `mark`.
std::string cut_cells(std::string_view text, int width, std::string_view mark = "");
// These two functions pad the text with spaces to `width` cells, on its right or on its left. They
// never cut it.
std::string pad_cells(std::string_view text, int width);
std::string pad_cells_left(std::string_view text, int width);
// These two functions cut the text as cut_cells does, and then pad it.
std::string fill_cells(std::string_view text, int width, std::string_view mark = "");
std::string fill_cells_left(std::string_view text, int width, std::string_view mark = "");

// Returns `head` followed by the words of `text`. If a line would exceed `width` cells, `text`
// continues on the next line, indented to its first word. No word is broken. The result ends with a
// newline.
std::string hang_cells(std::string_view head, std::string_view text, int width);

// Breaks text into lines of at most `width` cells, at spaces if possible. Newlines in the text are
// kept.
std::string wrap_cells(std::string_view text, int width);

}  // namespace lockstep
