#include "core/media/pictures/draw.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "core/media/pictures/font.h"

namespace lockstep {
namespace {

// Columns [left, right) and rows [top, bottom) of a picture.
struct Area {
  int left, top, right, bottom;
};

std::span<std::uint8_t> pixels(Image& image) {
  if (image.channels() != 3 || image.bits() != 8)
    throw Error(
        cat("drawing needs an RGB picture of 8 bits, but this one is ", describe(image.shape())),
        "convert(image, 3, 8) makes one");
  return image.u8();
}

int within(double value, int end) {
  return static_cast<int>(std::clamp(std::round(value), 0.0, static_cast<double>(end)));
}

bool is_finite(const Rectangle& area) {
  return std::isfinite(area.left) && std::isfinite(area.top) && std::isfinite(area.right) &&
         std::isfinite(area.bottom);
}

Area clipped(const Image& image, const Rectangle& area) {
  if (!is_finite(area)) return {0, 0, 0, 0};
  return {within(area.left, image.width()), within(area.top, image.height()),
          within(area.right, image.width()), within(area.bottom, image.height())};
}

std::uint8_t mixed_byte(std::uint8_t below, std::uint8_t above, double opacity) {
  return static_cast<std::uint8_t>(std::lround(below * (1 - opacity) + above * opacity));
}

void mix(std::uint8_t* pixel, Colour colour, double opacity) {
  pixel[0] = mixed_byte(pixel[0], colour.red, opacity);
  pixel[1] = mixed_byte(pixel[1], colour.green, opacity);
  pixel[2] = mixed_byte(pixel[2], colour.blue, opacity);
}

std::size_t offset(const Image& image, int row, int column) {
  return 3 * (static_cast<std::size_t>(row) * static_cast<std::size_t>(image.width()) +
              static_cast<std::size_t>(column));
}

void check_mask(const Image& image, std::span<const std::uint8_t> mask) {
  const std::size_t wanted =
      static_cast<std::size_t>(image.height()) * static_cast<std::size_t>(image.width());
  if (mask.size() != wanted)
    throw Error(cat("a mask for a picture of ", image.width(), " x ", image.height(), " must have ",
                    wanted, " values, but has ", mask.size()));
}

double opacity_of(double opacity) {
  return std::isfinite(opacity) ? std::clamp(opacity, 0.0, 1.0) : 0;
}

// A side of a polygon that is not horizontal.
struct Edge {
  Point top, bottom;
  double x_at(double y) const {
    return top.x + (bottom.x - top.x) * ((y - top.y) / (bottom.y - top.y));
  }
};

std::vector<Edge> edges_of(std::span<const std::vector<Point>> contours) {
  std::vector<Edge> edges;
  for (const std::vector<Point>& points : contours) {
    const bool finite = std::all_of(points.begin(), points.end(), [](const Point& point) {
      return std::isfinite(point.x) && std::isfinite(point.y);
    });
    if (points.size() < 3 || !finite) continue;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Point &a = points[i], &b = points[(i + 1) % points.size()];
      if (a.y < b.y) edges.push_back({a, b});
      if (b.y < a.y) edges.push_back({b, a});
    }
  }
  return edges;
}

// Adds to each pixel the length of it that lies between `left` and `right`, times `share`.
void add_cover(std::vector<double>& cover, double left, double right, double share) {
  for (double from = left; from < right;) {
    const double next = std::min(std::floor(from) + 1, right);
    cover[static_cast<std::size_t>(from)] += (next - from) * share;
    from = next;
  }
}

}  // namespace

void fill_rectangle(Image& image, const Rectangle& rectangle, Colour colour, double opacity) {
  const std::span<std::uint8_t> values = pixels(image);
  const Area area = clipped(image, rectangle);
  for (int row = area.top; row < area.bottom; ++row)
    for (int column = area.left; column < area.right; ++column)
      mix(&values[offset(image, row, column)], colour, opacity_of(opacity));
}

void draw_rectangle(Image& image, const Rectangle& whole, Colour colour, int thickness) {
  if (!is_finite(whole)) return;
  const double wide = std::max(thickness, 1);
  Rectangle top = whole, bottom = whole, left = whole, right = whole;
  top.bottom = std::min(whole.top + wide, whole.bottom);
  bottom.top = std::max(whole.bottom - wide, whole.top);
  left.right = std::min(whole.left + wide, whole.right);
  right.left = std::max(whole.right - wide, whole.left);
  for (const Rectangle& side : {top, bottom, left, right}) fill_rectangle(image, side, colour);
}

void fill_polygon(Image& image, std::span<const std::vector<Point>> contours, Colour colour,
                  double opacity) {
  const std::span<std::uint8_t> values = pixels(image);
  constexpr int lines = 4;  // scan lines per row of pixels
  const double width = image.width();
  std::vector<Edge> edges = edges_of(contours);
  double top = image.height(), bottom = 0;
  for (const Edge& edge : edges) {
    top = std::min(top, edge.top.y);
    bottom = std::max(bottom, edge.bottom.y);
  }
  const int first = std::max(0, static_cast<int>(std::floor(std::max(top, 0.0))));
  const int end = static_cast<int>(std::ceil(std::min<double>(bottom, image.height())));
  std::vector<double> cover(static_cast<std::size_t>(image.width())), crossings;
  for (int row = first; row < end; ++row) {
    std::fill(cover.begin(), cover.end(), 0.0);
    for (int line = 0; line < lines; ++line) {
      const double y = row + (line + 0.5) / lines;
      crossings.clear();
      for (const Edge& edge : edges)
        if (edge.top.y <= y && y < edge.bottom.y)
          crossings.push_back(std::clamp(edge.x_at(y), 0.0, width));
      std::sort(crossings.begin(), crossings.end());
      for (std::size_t i = 0; i + 1 < crossings.size(); i += 2)
        add_cover(cover, crossings[i], crossings[i + 1], 1.0 / lines);
    }
    for (int column = 0; column < image.width(); ++column)
      if (const double share = cover[static_cast<std::size_t>(column)]; share > 0)
        mix(&values[offset(image, row, column)], colour,
            std::min(share, 1.0) * opacity_of(opacity));
  }
}

void draw_mask(Image& image, std::span<const std::uint8_t> mask, Colour colour, double opacity) {
  const std::span<std::uint8_t> values = pixels(image);
  check_mask(image, mask);
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i] != 0) mix(&values[3 * i], colour, opacity_of(opacity));
}

void draw_outline(Image& image, std::span<const std::uint8_t> mask, Colour colour) {
  const std::span<std::uint8_t> values = pixels(image);
  check_mask(image, mask);
  const int height = image.height(), width = image.width();
  const auto inside = [&](int row, int column) {
    return row >= 0 && column >= 0 && row < height && column < width &&
           mask[offset(image, row, column) / 3] != 0;
  };
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column)
      if (inside(row, column) && (!inside(row - 1, column) || !inside(row + 1, column) ||
                                  !inside(row, column - 1) || !inside(row, column + 1)))
        mix(&values[offset(image, row, column)], colour, 1);
}

TextSize text_size(std::string_view text, int scale) {
  int characters = 0;
  for (std::string_view rest = text; !rest.empty(); ++characters)
    rest.remove_prefix(next_code_point(rest).length);
  const int size = std::max(scale, 1);
  return {.width = characters * glyph_width * size, .height = glyph_height * size};
}

void draw_text(Image& image, double left, double top, std::string_view text, Colour colour,
               int scale) {
  pixels(image);
  const int size = std::max(scale, 1);
  for (std::string_view rest = text; !rest.empty() && left < image.width();
       left += glyph_width * size) {
    const CodePoint character = next_code_point(rest);
    rest.remove_prefix(character.length);
    const Glyph& rows = glyph(character.valid ? character.value : replacement_character);
    for (int row = 0; row < glyph_height; ++row)
      for (int column = 0; column < glyph_width; ++column) {
        if ((rows[static_cast<std::size_t>(row)] >> (7 - column) & 1) == 0) continue;
        const double x = left + column * size, y = top + row * size;
        fill_rectangle(image, {x, y, x + size, y + size}, colour);
      }
  }
}

void draw_labelled(Image& image, const Rectangle& rectangle, std::string_view text, Colour colour,
                   int thickness, int scale) {
  draw_rectangle(image, rectangle, colour, thickness);
  if (text.empty() || !is_finite(rectangle)) return;
  const TextSize size = text_size(text, scale);
  const double margin = std::max(scale, 1);
  const double height = size.height + 2 * margin, width = size.width + 2 * margin;
  double left = std::min(rectangle.left, image.width() - width);
  left = std::max(left, 0.0);
  const double top =
      rectangle.top >= height ? rectangle.top - height : std::max(rectangle.top, 0.0);
  fill_rectangle(image, {left, top, left + width, top + height}, colour);
  draw_text(image, left + margin, top + margin, text, text_colour_on(colour), scale);
}

int readable_scale(const Image& image) {
  // Length of the longer side in pixels up to which the font is readable at its own size.
  constexpr int plain = 900;
  return std::max(1, (std::max(image.height(), image.width()) + plain / 2) / plain);
}

}  // namespace lockstep
