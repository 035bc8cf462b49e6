// Chooses colours and names of classes on pictures, and draws their labels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/media/colour.h"
#include "core/media/pictures/draw.h"
#include "core/media/pictures/image.h"
#include "recipes/fewshot/metrics/boxes.h"

namespace lockstep::fewshot {

// Returns the colour of a class, which depends on its position in `classes`. The first positions
// have the colours of the palette. Later positions have darker and then lighter variants of these.
// A class whose id `classes` lacks is grey.
Colour class_colour(std::span<const NamedClass> classes, std::int64_t category);

// Returns the name of a class as draw_text can show it, with at most `characters` characters.
// Characters beyond printable ASCII become "?". A name without any printable ASCII character
// becomes "class ID". A name that is cut ends in "..".
std::string shown_name(std::span<const NamedClass> classes, std::int64_t category,
                       std::size_t characters);

// Cuts a text to at most `characters` characters. A text that is cut ends in "..".
std::string cut_text(std::string_view text, std::size_t characters);

struct Label {
  std::string text;
  Colour fill;
  int scale = 1;
};

// Returns the size of the label, including its margin.
TextSize label_size(const Label& label);
// Draws a filled box with the text. left, top: the upper left corner of the box. The text is cut if
// it is wider than the picture.
void draw_label(Image& image, double left, double top, const Label& label);

// Finds places for labels in a picture, so that they cover each other as little as possible.
class LabelPlaces {
 public:
  LabelPlaces(int height, int width) : height_(height), width_(width) {}

  // Returns a place for a label of this size, at or in the box and within the picture. The label
  // covers no earlier label there, or as little of them as possible. Later labels then avoid this
  // place.
  Rectangle take(const Rectangle& box, const TextSize& size);

 private:
  double covered(const Rectangle& place) const;

  int height_, width_;
  std::vector<Rectangle> taken_;
};

}  // namespace lockstep::fewshot
