#include "core/media/colour.h"

#include <array>
#include <cstdio>

namespace lockstep {

std::string hex(Colour colour) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<unsigned>(colour.red),
                static_cast<unsigned>(colour.green), static_cast<unsigned>(colour.blue));
  return text;
}

Colour palette(std::size_t index) {
  constexpr std::array<Colour, palette_size> colours{{{0, 114, 178},
                                                      {230, 159, 0},
                                                      {0, 158, 115},
                                                      {213, 94, 0},
                                                      {204, 121, 167},
                                                      {86, 180, 233},
                                                      {240, 228, 66}}};
  return colours[index % palette_size];
}

Colour text_colour_on(Colour background) {
  const int brightness = 299 * background.red + 587 * background.green + 114 * background.blue;
  constexpr int middle = 128 * 1000;
  return brightness >= middle ? Colour{} : Colour{255, 255, 255};
}

}  // namespace lockstep
