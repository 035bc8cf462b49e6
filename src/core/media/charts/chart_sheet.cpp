#include "core/media/charts/chart_sheet.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr int text_px = 12, title_px = 15;
constexpr double line_px = 18, legend_px = 190;
constexpr std::size_t legend_characters = 22, row_name_characters = 28, category_characters = 24;
constexpr const char* grid_colour = "#e4e4e4";

// The width that the longest name needs.
double legend_width(const std::vector<LegendEntry>& legend) {
  constexpr double sample_px = 50, least = 90;
  double widest = least;
  for (const LegendEntry& entry : legend)
    widest =
        std::max(widest, sample_px + text_width(shortened(entry.name, legend_characters), text_px));
  return std::min(widest, legend_px);
}

double left_margin(const ChartFrame& frame, const std::vector<std::string>& names) {
  constexpr double numbers = 62, label = 20, gap = 14;
  double widest = names.empty() ? numbers : 0;
  for (const std::string& name : names)
    widest = std::max(widest, text_width(shortened(name, row_name_characters), text_px) + gap);
  return widest + (frame.y.label.empty() ? 0 : label);
}

ChartFrame checked(ChartFrame frame, std::size_t legend_lines) {
  constexpr int least_width = 200, least_height = 120, most = 20000;
  frame.width = std::clamp(frame.width, least_width, most);
  // A legend that is longer than the chart makes the chart higher.
  const int needed = static_cast<int>(static_cast<double>(legend_lines) * line_px) + 80;
  frame.height = std::clamp(std::max(frame.height, needed), least_height, most);
  return frame;
}

}  // namespace

LegendEntry look_of(std::size_t index, const std::string& name) {
  constexpr std::array dashes{"", "6 3", "2 2", "8 3 2 3"};
  return {
      .name = name, .colour = palette(index), .dash = dashes[index / palette_size % dashes.size()]};
}

void check_length(const std::string& what, std::size_t size, std::size_t wanted,
                  bool may_be_empty) {
  if (size == wanted || (may_be_empty && size == 0)) return;
  throw Error(cat(what, " of a chart must have ", wanted, " values, but has ", size));
}

ChartFrame high_enough(ChartFrame frame, std::size_t rows) {
  const double around = (frame.title.empty() ? 16 : 38) + (frame.x.label.empty() ? 30 : 50);
  frame.height = static_cast<int>(around + row_px * std::max<double>(1, static_cast<double>(rows)));
  return frame;
}

ChartSheet::ChartSheet(const ChartFrame& frame, const std::vector<LegendEntry>& legend,
                       const std::vector<std::string>& left_names)
    : frame_(checked(frame, legend.size())),
      left_(left_margin(frame, left_names)),
      right_(frame_.width - (legend.empty() ? 20 : legend_width(legend))),
      top_(frame.title.empty() ? 16 : 38),
      bottom_(frame_.height - (frame.x.label.empty() ? 30 : 50)),
      svg_(frame_.width, frame_.height) {
  right_ = std::max(right_, left_ + 40);
  if (!frame.title.empty()) {
    const auto room = static_cast<std::size_t>(frame_.width / (0.6 * title_px));
    svg_.text({left_, 24}, shortened(frame.title, room), {.size = title_px, .bold = true});
  }
  draw_legend(legend);
}

void ChartSheet::draw_legend(const std::vector<LegendEntry>& legend) {
  double y = top_ + 10;
  for (const LegendEntry& entry : legend) {
    const std::array<SvgPoint, 2> sample{{{right_ + 14, y - 4}, {right_ + 34, y - 4}}};
    svg_.path(sample, hex(entry.colour), 4, entry.dash, entry.opacity);
    svg_.text({right_ + 40, y}, shortened(entry.name, legend_characters), {.size = text_px});
    y += line_px;
  }
}

ChartScale ChartSheet::x_scale(const DataRange& range) const {
  constexpr double apart = 90;
  return {frame_.x, range.low, range.high,
          left_,    right_,    static_cast<int>((right_ - left_) / apart)};
}

ChartScale ChartSheet::y_scale(const DataRange& range) const {
  constexpr double apart = 50;
  return {frame_.y, range.low, range.high,
          bottom_,  top_,      static_cast<int>((bottom_ - top_) / apart)};
}

void ChartSheet::draw_x(const ChartScale& scale) {
  for (const Tick& tick : scale.ticks()) {
    const double x = scale.place(tick.value);
    svg_.line({x, top_}, {x, bottom_}, grid_colour);
    svg_.line({x, bottom_}, {x, bottom_ + 4}, axis_colour);
    svg_.text({x, bottom_ + 17}, tick.label, {.anchor = Anchor::middle, .size = text_px});
  }
  draw_x_names({});
}

void ChartSheet::draw_y(const ChartScale& scale) {
  for (const Tick& tick : scale.ticks()) {
    const double y = scale.place(tick.value);
    svg_.line({left_, y}, {right_, y}, grid_colour);
    svg_.line({left_ - 4, y}, {left_, y}, axis_colour);
    svg_.text({left_ - 8, y + 4}, tick.label, {.anchor = Anchor::end, .size = text_px});
  }
  draw_y_names({});
}

void ChartSheet::draw_x_names(const std::vector<NamedPlace>& names) {
  const double each = (right_ - left_) / std::max<double>(1, static_cast<double>(names.size()));
  const auto room = static_cast<std::size_t>(std::max(3.0, each / (0.6 * text_px)));
  for (const NamedPlace& place : names)
    svg_.text({place.at, bottom_ + 17}, shortened(place.name, std::min(room, category_characters)),
              {.anchor = Anchor::middle, .size = text_px});
  svg_.line({left_, bottom_}, {right_, bottom_}, axis_colour);
  if (!frame_.x.label.empty())
    svg_.text({(left_ + right_) / 2, bottom_ + 38}, frame_.x.label,
              {.anchor = Anchor::middle, .size = text_px});
}

void ChartSheet::draw_y_names(const std::vector<NamedPlace>& names) {
  for (const NamedPlace& place : names)
    svg_.text({left_ - 8, place.at + 4}, shortened(place.name, row_name_characters),
              {.anchor = Anchor::end, .size = text_px});
  svg_.line({left_, top_}, {left_, bottom_}, axis_colour);
  if (!frame_.y.label.empty())
    svg_.text({16, (top_ + bottom_) / 2}, frame_.y.label,
              {.anchor = Anchor::middle, .size = text_px, .upwards = true});
}

void ChartSheet::begin_plot() { svg_.begin_clip({left_, top_}, right_ - left_, bottom_ - top_); }

void ChartSheet::end_plot(bool has_data) {
  svg_.end_clip();
  if (!has_data)
    svg_.text({(left_ + right_) / 2, (top_ + bottom_) / 2}, "no data",
              {.anchor = Anchor::middle, .size = title_px});
}

std::string ChartSheet::text() { return svg_.text_of(frame_.title); }

}  // namespace lockstep
