// How much room text takes on a terminal, which counts in cells: a wide character takes two.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// Fit for a terminal: each character left takes one cell or two. Control characters become spaces,
// faulty UTF-8 becomes U+FFFD, what takes no cell or turns the direction of writing goes.
std::string clean_cells(std::string_view text);

int cells_of(char32_t character);     // 1 or 2; of what clean_cells leaves
int cells_of(std::string_view text);  // likewise

// The beginning that fits into `width` cells; where something is cut off, with `mark` at its end.
std::string cut_cells(std::string_view text, int width, std::string_view mark = "");
// Cut, and filled with spaces on its right, or on its left.
std::string fill_cells(std::string_view text, int width, std::string_view mark = "");
std::string fill_cells_left(std::string_view text, int width, std::string_view mark = "");

// In lines of at most `width` cells, at spaces where there are some; newlines stay.
std::string wrap_cells(std::string_view text, int width);

}  // namespace lockstep
