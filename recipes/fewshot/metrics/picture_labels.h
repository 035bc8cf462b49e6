// The look of classes on pictures: colours, names and labels.
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

// The colour depends on the position in the list: the palette comes first, then darker and lighter
// variants of it. Grey for an id that the list lacks.
Colour class_colour(std::span<const NamedClass> classes, std::int64_t category);

// The class's name as draw_text shows it, with at most `characters`. A cut name ends in "..".
// Characters beyond printable ASCII are shown as "?"; "class ID" if the name has no printable
// ASCII.
std::string shown_name(std::span<const NamedClass> classes, std::int64_t category,
                       std::size_t characters);

// Cuts a text in the same way.
std::string cut_text(std::string_view text, std::size_t characters);

struct Label {
  std::string text;
  Colour fill;
  int scale = 1;
};

// The extent of the label including its margin.
TextSize label_size(const Label& label);
// left, top: the corner of the filled box. The text is cut if it is wider than the picture.
void draw_label(Image& image, double left, double top, const Label& label);

// Finds places for labels in a picture where they cover little of each other.
class LabelPlaces {
 public:
  LabelPlaces(int height, int width) : height_(height), width_(width) {}

  // Returns a place around or in the box where the label fits into the picture and covers no other
  // label. If there is none, returns the place where it covers least of them. The place then counts
  // as covered.
  Rectangle take(const Rectangle& box, const TextSize& size);

 private:
  double covered(const Rectangle& place) const;

  int height_, width_;
  std::vector<Rectangle> taken_;
};

}  // namespace lockstep::fewshot
