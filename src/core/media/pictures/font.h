// A bitmap font of fixed width for text on pictures.
#pragma once

#include <array>
#include <cstdint>

namespace lockstep {

constexpr int glyph_width = 6, glyph_height = 13;

// A byte per row from the top; the highest bit is the leftmost pixel.
using Glyph = std::array<std::uint8_t, glyph_height>;

// The glyph of printable ASCII; an empty frame for any other character.
const Glyph& glyph(char32_t character);

}  // namespace lockstep
