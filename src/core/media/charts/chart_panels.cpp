// Joins several charts into one drawing.
#include <algorithm>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/media/charts/chart.h"
#include "core/media/charts/svg.h"

namespace lockstep {
namespace {

// The number of pixels in an attribute of a drawing. The first attribute with that name belongs to
// the outermost element.
int pixels_of(const std::string& svg, const std::string& attribute) {
  const std::string begin = attribute + "=\"";
  const std::size_t at = svg.find(begin) + begin.size();
  return whole_number<int>(svg.substr(at, svg.find('"', at) - at)).value_or(0);
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
  return text;
}

}  // namespace

std::string xy_panels(const std::string& title, const std::vector<XyPanel>& panels) {
  std::string inner;
  int width = 0, height = 0;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    std::string chart = xy_chart(panels[i].frame, panels[i].series);
    const int chart_height = pixels_of(chart, "height");
    width = std::max(width, pixels_of(chart, "width"));
    // Names of clip areas must be unique in the whole file. Quotes in texts are escaped, so no text
    // is replaced.
    chart = replaced(chart, "id=\"clip", cat("id=\"panel", i, "-clip"));
    chart = replaced(chart, "\"url(#clip", cat("\"url(#panel", i, "-clip"));
    inner += cat("<svg y=\"", height, "\"", chart.substr(std::string_view("<svg").size()));
    height += chart_height;
  }
  Svg sheet(std::max(width, 1), std::max(height, 1));
  sheet.drawing(inner);
  return sheet.text_of(title);
}

}  // namespace lockstep
