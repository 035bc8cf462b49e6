#include "recipes/fewshot/metrics/detection_picture.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/text/text.h"
#include "core/media/pictures/draw.h"
#include "recipes/fewshot/metrics/matching.h"
#include "recipes/fewshot/metrics/picture_labels.h"
#include "recipes/fewshot/metrics/picture_parts.h"

namespace lockstep::fewshot {
namespace {

constexpr std::size_t name_characters = 20;
constexpr Colour white{255, 255, 255};

struct Canvas {
  Image image;
  double enlarged = 1;
  int scale = 1;  // factor for text and lines

  // The visible place of a box. Nothing if the box is not finite or is outside the picture.
  template <class Box>
  std::optional<Rectangle> place(const Box& box) const {
    const Rectangle area{box.x * enlarged, box.y * enlarged, (box.x + box.width) * enlarged,
                         (box.y + box.height) * enlarged};
    const bool seen = area.left < image.width() && area.top < image.height() && area.right > 0 &&
                      area.bottom > 0 && std::isfinite(area.left) && std::isfinite(area.top) &&
                      std::isfinite(area.right) && std::isfinite(area.bottom);
    if (!seen) return std::nullopt;
    return area;
  }
};

Canvas canvas_of(const Image& picture, int shorter_side) {
  constexpr double most = 4;
  const int shorter = std::min(picture.height(), picture.width());
  const double enlarged =
      std::clamp(static_cast<double>(shorter_side) / std::max(shorter, 1), 1.0, most);
  const auto side = [&](int length) { return static_cast<int>(std::lround(length * enlarged)); };
  Canvas canvas{.image = resized(picture, side(picture.height()), side(picture.width())),
                .enlarged = enlarged};
  canvas.scale = readable_scale(canvas.image);
  return canvas;
}

// Draws coloured dashes with white between them, which are visible on any picture.
void draw_dashed(Image& image, const Rectangle& area, Colour colour, int thickness) {
  draw_rectangle(image, area, white, thickness);
  const double dash = 6.0 * thickness, wide = thickness;
  const double end_x = std::min<double>(area.right, image.width());
  const double end_y = std::min<double>(area.bottom, image.height());
  for (double x = std::max(area.left, -dash); x < end_x; x += 2 * dash)
    for (const double y : {area.top, area.bottom - wide})
      fill_rectangle(image, {x, y, std::min(x + dash, area.right), y + wide}, colour);
  for (double y = std::max(area.top, -dash); y < end_y; y += 2 * dash)
    for (const double x : {area.left, area.right - wide})
      fill_rectangle(image, {x, y, x + wide, std::min(y + dash, area.bottom)}, colour);
}

// Draws the parts of both diagonals that are inside the picture.
void draw_cross(Image& image, const Rectangle& area, Colour colour, int thickness) {
  const double width = area.right - area.left, height = area.bottom - area.top;
  if (width < 1 || height < 1) return;
  struct Diagonal {
    double from_y, to_y;
  };
  for (const auto& [from_y, to_y] :
       {Diagonal{area.top, area.bottom}, Diagonal{area.bottom, area.top}}) {
    // The positions on the diagonal, from 0 to 1, where it enters and leaves the picture.
    const double slope = to_y - from_y;
    const double up = -from_y / slope, down = (image.height() - from_y) / slope;
    const double first = std::max({0.0, -area.left / width, std::min(up, down)});
    const double last = std::min({1.0, (image.width() - area.left) / width, std::max(up, down)});
    const double steps = std::ceil((last - first) * std::max(width, height));
    for (double i = 0; i <= steps && last > first; ++i) {
      const double share = first + (last - first) * i / std::max(steps, 1.0);
      const double x = area.left + width * share, y = from_y + slope * share;
      fill_rectangle(image, {x, y, x + thickness, y + thickness}, colour);
    }
  }
}

struct Judged {
  std::vector<bool> wrong;   // by detection
  std::vector<bool> missed;  // by true box
};

// detections: sorted by falling score.
Judged judge(std::span<const TrueBox> truths, const std::vector<const Detection*>& detections) {
  constexpr double threshold = 0.5;
  Judged judged{std::vector<bool>(detections.size()), std::vector<bool>(truths.size())};
  struct OfClass {
    std::vector<std::size_t> truths, detections;
  };
  std::map<std::int64_t, OfClass> classes;
  for (std::size_t i = 0; i < truths.size(); ++i) classes[truths[i].category].truths.push_back(i);
  for (std::size_t i = 0; i < detections.size(); ++i)
    classes[detections[i]->category].detections.push_back(i);
  for (const auto& [category, places] : classes) {
    std::vector<const TrueBox*> boxes;
    std::vector<const Detection*> found;
    std::vector<bool> ignored;
    for (const std::size_t i : places.truths) {
      boxes.push_back(&truths[i]);
      ignored.push_back(truths[i].crowd || truths[i].ignore);
      judged.missed[i] = !ignored.back();
    }
    for (const std::size_t i : places.detections) found.push_back(detections[i]);
    const std::vector<std::size_t> matches = BoxMatcher(boxes, found).match(ignored, threshold);
    for (std::size_t d = 0; d < matches.size(); ++d) {
      if (matches[d] == no_box)
        judged.wrong[places.detections[d]] = true;
      else
        judged.missed[places.truths[matches[d]]] = false;
    }
  }
  return judged;
}

std::vector<const Detection*> best_of(std::span<const Detection> detections, std::size_t most) {
  std::vector<const Detection*> best;
  for (const Detection& one : detections)
    if (std::isfinite(one.score)) best.push_back(&one);
  std::stable_sort(best.begin(), best.end(),
                   [](const Detection* a, const Detection* b) { return a->score > b->score; });
  best.resize(std::min(best.size(), most));
  return best;
}

struct PlacedLabel {
  Rectangle place;
  Label label;
};

}  // namespace

Image draw_detections(const Image& picture, std::span<const Detection> detections,
                      const DrawDetections& how) {
  Canvas canvas = canvas_of(picture, how.shorter_side);
  Image& image = canvas.image;
  const std::vector<const Detection*> shown = best_of(detections, how.most);
  const std::span<const TrueBox> truths = how.truths.value_or(std::span<const TrueBox>{});
  const Judged judged = judge(truths, shown);
  const int thick = 2 * canvas.scale;
  LabelPlaces places(image.height(), image.width());
  std::vector<PlacedLabel> labels;
  const auto add_label = [&](const Rectangle& box, const Label& label) {
    labels.push_back({places.take(box, label_size(label)), label});
  };

  for (const TrueBox& truth : truths)
    if (const auto box = canvas.place(truth))
      draw_dashed(image, *box, class_colour(how.classes, truth.category), thick);
  for (std::size_t d = shown.size(); d-- > 0;) {  // the highest score is drawn last, on top
    const auto box = canvas.place(*shown[d]);
    if (!box) continue;
    const Colour colour = class_colour(how.classes, shown[d]->category);
    const bool is_wrong = how.truths && judged.wrong[d];
    draw_rectangle(image, *box, colour, thick);
    if (is_wrong) draw_cross(image, *box, colour, canvas.scale);
  }
  for (std::size_t d = 0; d < shown.size(); ++d) {
    const auto box = canvas.place(*shown[d]);
    if (!box) continue;
    const std::string name = shown_name(how.classes, shown[d]->category, name_characters);
    const bool is_wrong = how.truths && judged.wrong[d];
    add_label(*box, {.text = cat(is_wrong ? "wrong " : "", name, " ", fixed(shown[d]->score, 2)),
                     .fill = class_colour(how.classes, shown[d]->category),
                     .scale = canvas.scale});
  }
  for (std::size_t g = 0; g < truths.size(); ++g)
    if (const auto box = canvas.place(truths[g]); box && judged.missed[g])
      add_label(*box, {.text = shown_name(how.classes, truths[g].category, name_characters),
                       .fill = white,
                       .scale = canvas.scale});
  for (std::size_t i = labels.size(); i-- > 0;)
    draw_label(image, labels[i].place.left, labels[i].place.top, labels[i].label);
  return std::move(canvas.image);
}

}  // namespace lockstep::fewshot
