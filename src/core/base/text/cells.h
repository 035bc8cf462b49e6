// Measures text on a terminal in cells. A wide character takes two. All code that aligns, cuts or
// wraps text for a terminal uses these functions.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// Returns the text in a form for a grid of cells. It is printable, and has no characters that take
// no cell of their own, such as combining marks.
std::string clean_cells(std::string_view text);

// Returns 0, 1 or 2 for most characters. A combining mark takes no cell. A character that
// `printable` escapes takes the cells of its escape.
int cells_of(char32_t character);
int cells_of(std::string_view text);

// Returns the prefix that fits into `width` cells. If text is cut off, the result ends with `mark`.
std::string cut_cells(std::string_view text, int width, std::string_view mark = "");
// These two pad the text with spaces, on its right or on its left. They never cut it.
std::string pad_cells(std::string_view text, int width);
std::string pad_cells_left(std::string_view text, int width);
// These two cut the text, then pad it.
std::string fill_cells(std::string_view text, int width, std::string_view mark = "");
std::string fill_cells_left(std::string_view text, int width, std::string_view mark = "");

// Returns `head` followed by the words of `text`. A line that would exceed `width` cells continues
// on the next line, below the first word of `text`. No word is broken. The result ends with a
// newline.
std::string hang_cells(std::string_view head, std::string_view text, int width);

// Breaks text into lines of at most `width` cells, at spaces if possible. Newlines are kept.
std::string wrap_cells(std::string_view text, int width);

}  // namespace lockstep
