// How classes look on pictures: colours, names and labels.
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

// By the place in the list: the palette, then darker and lighter ones of it. Grey for an id that
// the list lacks.
Colour class_colour(std::span<const NamedClass> classes, std::int64_t category);

// The class's name as draw_text shows it: at most `characters`, ".." if it is cut, each
// character beyond printable ASCII as "?"; "class ID" if none of it is printable ASCII.
std::string shown_name(std::span<const NamedClass> classes, std::int64_t category,
                       std::size_t characters);

// Cut likewise.
std::string cut_text(std::string_view text, std::size_t characters);

struct Label {
  std::string text;
  Colour fill;
  int scale = 1;
};

// The label's extent with its margin.
TextSize label_size(const Label& label);
// left, top: of the filled box. Cut if the picture's width is less than the text's.
void draw_label(Image& image, double left, double top, const Label& label);

// Finds places for labels in a picture, so that they cover each other little.
class LabelPlaces {
 public:
  LabelPlaces(int height, int width) : height_(height), width_(width) {}

  // A place around or in the box where the picture holds the label and no other label is. If there
  // is none, the place where it covers the least of them. The place counts as covered from then on.
  Rectangle take(const Rectangle& box, const TextSize& size);

 private:
  double covered(const Rectangle& place) const;

  int height_, width_;
  std::vector<Rectangle> taken_;
};

}  // namespace lockstep::fewshot
