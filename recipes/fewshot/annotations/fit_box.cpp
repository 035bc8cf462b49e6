#include "recipes/fewshot/annotations/fit_box.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::fewshot {

std::optional<Box> fit_box(const RawBox& raw, Box box, const Picture& picture, Repairs& repairs) {
  const double width = picture.width, height = picture.height;
  const double left = std::clamp(raw.x, 0.0, width), right = std::clamp(raw.x + raw.w, 0.0, width);
  const double top = std::clamp(raw.y, 0.0, height),
               bottom = std::clamp(raw.y + raw.h, 0.0, height);
  const std::string file = picture.path.filename().string();
  if (right - left < least_extent || bottom - top < least_extent) {
    repairs.degenerate.add(box.id, file);
    return std::nullopt;
  }
  constexpr double overhang = 1;  // up to a pixel is treated as rounding
  if (raw.x < -overhang || raw.y < -overhang || raw.x + raw.w > width + overhang ||
      raw.y + raw.h > height + overhang)
    repairs.clipped.add(box.id, file);
  if (box.crowd) repairs.crowd.add(box.id, file);
  if (box.difficult) repairs.difficult.add(box.id, file);
  box.x = static_cast<float>(left);
  box.y = static_cast<float>(top);
  box.w = static_cast<float>(right - left);
  box.h = static_cast<float>(bottom - top);
  if (!(box.area > 0)) box.area = (right - left) * (bottom - top);
  return box;
}

void check_not_empty(const DetectionData& data) {
  if (data.pictures.empty())
    throw Error(cat(data.name, " has no pictures"), "COCO lists them under images");
  if (data.categories.empty())
    throw Error(cat(data.name, " has no categories"), "COCO lists them under categories");
  if (std::none_of(data.boxes.begin(), data.boxes.end(),
                   [](const Box& box) { return box.counts(); }))
    throw Error(cat(data.name, " has no box of an object"),
                data.repairs.degenerate.count > 0
                    ? cat("all ", data.repairs.degenerate.count,
                          " boxes are empty or outside of their pictures; are they x, y, width, "
                          "height in pixels?")
                    : "boxes are needed for training and for evaluation");
}

}  // namespace lockstep::fewshot
