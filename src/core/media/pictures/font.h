// A bitmap font for text on pictures. All characters have the same size.
#pragma once

#include <array>
#include <cstdint>

namespace lockstep {

constexpr int glyph_width = 6, glyph_height = 13;

// One byte per row, from the top. The highest bit is the leftmost pixel.
using Glyph = std::array<std::uint8_t, glyph_height>;

// Returns the glyph of a printable ASCII character, or an empty frame for any other character.
const Glyph& glyph(char32_t character);

}  // namespace lockstep
