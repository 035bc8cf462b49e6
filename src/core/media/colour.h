// Colours for pictures and charts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lockstep {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const Colour&, const Colour&) = default;
};

std::string hex(Colour colour);  // "#0072b2"

// Returns one of seven colours that people with any colour vision can distinguish (Okabe and Ito
// 2008, without black). index: the colours repeat after the last one.
constexpr std::size_t palette_size = 7;
Colour palette(std::size_t index);

// Returns black or white, whichever is more readable on this colour.
Colour text_colour_on(Colour background);

}  // namespace lockstep
