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

// Returns one of seven colours that colour-blind people can distinguish too (Okabe and Ito 2008,
// without black). The colour of an index beyond the last colour is that of index % palette_size.
constexpr std::size_t palette_size = 7;
Colour palette(std::size_t index);

// Returns black or white, whichever is easier to read on this background.
Colour text_colour_on(Colour background);

}  // namespace lockstep
