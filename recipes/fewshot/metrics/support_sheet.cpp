// Draws the support set of an episode next to a query picture.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/media/pictures/draw.h"
#include "recipes/fewshot/metrics/detection_picture.h"
#include "recipes/fewshot/metrics/picture_labels.h"
#include "recipes/fewshot/metrics/picture_parts.h"

namespace lockstep::fewshot {
namespace {

constexpr Colour paper{255, 255, 255};
constexpr int gap = 6;  // number of pixels between neighbours
constexpr std::size_t label_characters = 30;

// The crops of a class at the same height, with the label above them.
struct StripRow {
  Label label;
  std::vector<Image> crops;
  Colour frame;

  int crops_height() const { return crops.empty() ? 0 : crops.front().height(); }
  int height() const { return label_size(label).height + crops_height() + gap; }
  int width() const {
    int width = 0;
    for (const Image& crop : crops) width += crop.width() + gap;
    return std::max(width, label_size(label).width + gap);
  }
};

Image at_height(const Image& crop, int height) {
  constexpr int widest = 3;  // as a multiple of the height
  if (crop.empty()) throw Error("a support crop is an empty picture");
  const double width = static_cast<double>(crop.width()) * height / crop.height();
  return resized(crop, height,
                 std::clamp(static_cast<int>(std::lround(width)), 1, widest * height));
}

StripRow row_of(const SupportCrops& support, const SupportSheet& how) {
  StripRow row{.label = {.text = shown_name(how.classes, support.category, label_characters),
                         .fill = class_colour(how.classes, support.category)},
               .frame = class_colour(how.classes, support.category)};
  const std::size_t shown = std::min(support.crops.size(), how.most_crops);
  for (std::size_t i = 0; i < shown; ++i)
    row.crops.push_back(at_height(support.crops[i], std::max(how.crop_height, 1)));
  if (shown < support.crops.size())
    row.label.text += cat(" (", shown, " of ", support.crops.size(), ")");
  return row;
}

// Copies an 8-bit RGB picture into another one. It must fit completely.
void paste(Image& onto, const Image& what, int left, int top) {
  const std::size_t row = 3 * static_cast<std::size_t>(what.width());
  for (int line = 0; line < what.height(); ++line) {
    const auto from = what.u8().subspan(row * static_cast<std::size_t>(line), row);
    const std::size_t to =
        3 * (static_cast<std::size_t>(top + line) * static_cast<std::size_t>(onto.width()) +
             static_cast<std::size_t>(left));
    std::copy(from.begin(), from.end(), onto.u8().begin() + static_cast<std::ptrdiff_t>(to));
  }
}

struct RowPlace {
  int left = 0, top = 0;
};

// Arranges the rows below each other and starts a new column at the bottom.
std::vector<RowPlace> places_of(const std::vector<StripRow>& rows, int height) {
  std::vector<RowPlace> places;
  RowPlace next{gap, gap};
  int widest = 0;
  for (const StripRow& row : rows) {
    if (next.top > gap && next.top + row.height() > height + gap) {
      next = {next.left + widest + gap, gap};
      widest = 0;
    }
    places.push_back(next);
    next.top += row.height();
    widest = std::max(widest, row.width());
  }
  return places;
}

void draw_row(Image& sheet, const StripRow& row, const RowPlace& place) {
  draw_label(sheet, place.left, place.top, row.label);
  const int top = place.top + label_size(row.label).height;
  int left = place.left;
  for (const Image& crop : row.crops) {
    paste(sheet, crop, left, top);
    draw_rectangle(
        sheet,
        {static_cast<double>(left), static_cast<double>(top),
         static_cast<double>(left + crop.width()), static_cast<double>(top + crop.height())},
        row.frame);
    left += crop.width() + gap;
  }
}

}  // namespace

Image support_sheet(std::span<const SupportCrops> supports, const Image& query,
                    const SupportSheet& how) {
  if (query.empty()) throw Error("the query is an empty picture");
  std::vector<StripRow> rows;
  for (const SupportCrops& support : supports) rows.push_back(row_of(support, how));
  const std::vector<RowPlace> places = places_of(rows, query.height());
  int width = gap, height = query.height() + 2 * gap;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    width = std::max(width, places[i].left + rows[i].width());
    height = std::max(height, places[i].top + rows[i].height());
  }
  Image sheet({.height = height, .width = width + query.width() + gap, .channels = 3});
  fill_rectangle(sheet,
                 {0, 0, static_cast<double>(sheet.width()), static_cast<double>(sheet.height())},
                 paper);
  for (std::size_t i = 0; i < rows.size(); ++i) draw_row(sheet, rows[i], places[i]);
  paste(sheet, convert(query, 3, 8), width, gap);
  return sheet;
}

}  // namespace lockstep::fewshot
