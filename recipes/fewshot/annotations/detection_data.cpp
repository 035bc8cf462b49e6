#include "recipes/fewshot/annotations/detection_data.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::fewshot {
namespace {

void tell(std::vector<std::string>& lines, const DetectionData& data, const Tally& tally,
          const char* one, const char* many) {
  if (tally.count == 0) return;
  lines.push_back(cat(data.name, ": ", tally.count, " ", tally.count == 1 ? one : many,
                      tally.count == 1 ? " (id " : " (first: id ", tally.first_id, " in ",
                      printable(tally.first_picture), ")"));
}

// "3 pictures have an EXIF orientation; boxes are taken as of the stored pixels in 1 and of the
// turned picture in 2"
std::string describe_frames(const FrameCounts& frames) {
  std::string text = cat(frames.oriented, frames.oriented == 1 ? " picture has" : " pictures have",
                         " an EXIF orientation; boxes are taken as of the stored pixels in ",
                         frames.stored, " and of the turned picture in ", frames.turned);
  if (frames.by_boxes > 0)
    text += cat(", in ", frames.by_boxes, " against the size, because boxes lie beyond it");
  if (frames.untold > 0)
    text += cat("; for ", frames.untold,
                " neither size nor boxes tell: data.exif=stored or data.exif=turned says it");
  return text;
}

std::map<std::string, int> by_name(const std::vector<Category>& categories) {
  std::map<std::string, int> places;
  for (std::size_t i = 0; i < categories.size(); ++i)
    places.emplace(categories[i].name, static_cast<int>(i));
  return places;
}

[[noreturn]] void unknown_category(const DetectionData& model, const DetectionData& data,
                                   const Category& category) {
  std::vector<std::string> names;
  for (const Category& known : model.categories) names.push_back(known.name);
  const std::string near = nearest(category.name, names);
  throw Error(cat(data.name, " has boxes of the category \"", printable(category.name), "\" (id ",
                  category.id, "), which ", model.name, " does not have"),
              near.empty() ? "both sets must have the same names of categories"
                           : cat("is \"", printable(near),
                                 "\" meant? Both sets must have the same "
                                 "names of categories"));
}

}  // namespace

void Tally::add(std::int64_t id, const std::string& picture) {
  if (count++ > 0) return;
  first_id = id;
  first_picture = picture;
}

std::span<const Box> DetectionData::boxes_of(int picture) const {
  const auto at = static_cast<std::size_t>(picture);
  LOCKSTEP_CHECK(picture >= 0 && at + 1 < first_box.size());
  return std::span(boxes).subspan(first_box[at], first_box[at + 1] - first_box[at]);
}

int DetectionData::category_index(const std::string& name_of_it) const {
  const auto found =
      std::find_if(categories.begin(), categories.end(),
                   [&](const Category& category) { return category.name == name_of_it; });
  return found == categories.end() ? -1 : static_cast<int>(found - categories.begin());
}

std::vector<std::string> DetectionData::warnings() const {
  std::vector<std::string> lines;
  if (frames.oriented > 0) lines.push_back(cat(name, ": ", describe_frames(frames)));
  if (frames.exchanged > 0)
    lines.push_back(cat(name, ": width and height of ", frames.exchanged,
                        frames.exchanged == 1 ? " picture are" : " pictures are",
                        " exchanged; boxes reach past them, but not past the picture"));
  tell(lines, *this, repairs.degenerate, "box without extent in its picture was dropped",
       "boxes without extent in their pictures were dropped");
  tell(lines, *this, repairs.clipped, "box reaches out of its picture and was cut at the edge",
       "boxes reach out of their pictures and were cut at the edges");
  tell(lines, *this, repairs.crowd, "box is of a crowd and counts neither as object nor background",
       "boxes are of crowds and count neither as objects nor background");
  tell(lines, *this, repairs.difficult,
       "box is marked difficult and counts neither as object nor background",
       "boxes are marked difficult and count neither as objects nor background");
  return lines;
}

void index_boxes(DetectionData& data) {
  std::stable_sort(data.boxes.begin(), data.boxes.end(),
                   [](const Box& a, const Box& b) { return a.picture < b.picture; });
  data.first_box.assign(data.pictures.size() + 1, 0);
  for (const Box& box : data.boxes) ++data.first_box[static_cast<std::size_t>(box.picture) + 1];
  for (std::size_t i = 1; i < data.first_box.size(); ++i)
    data.first_box[i] += data.first_box[i - 1];
}

DetectionData take_pictures(const DetectionData& data, const std::vector<bool>& keep) {
  LOCKSTEP_CHECK(keep.size() == data.pictures.size());
  DetectionData taken{.name = data.name,
                      .categories = data.categories,
                      .repairs = data.repairs,
                      .frames = data.frames};
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) continue;
    for (Box box : data.boxes_of(static_cast<int>(i))) {
      box.picture = static_cast<int>(taken.pictures.size());
      taken.boxes.push_back(box);
    }
    taken.pictures.push_back(data.pictures[i]);
  }
  index_boxes(taken);
  return taken;
}

DetectionData with_categories_of(const DetectionData& model, DetectionData data,
                                 std::vector<std::string>& warnings) {
  const std::map<std::string, int> places = by_name(model.categories);
  std::vector<int> to(data.categories.size(), -1);
  bool warned = false;
  for (std::size_t i = 0; i < data.categories.size(); ++i) {
    const Category& category = data.categories[i];
    const auto found = places.find(category.name);
    if (found == places.end()) continue;
    to[i] = found->second;
    const std::int64_t id = model.categories[static_cast<std::size_t>(found->second)].id;
    if (category.id == id || warned) continue;
    warned = true;
    warnings.push_back(cat(data.name, ": ids of categories differ from those of ", model.name,
                           ", which are taken, by name (first: \"", printable(category.name),
                           "\", ", category.id, " and ", id, ")"));
  }
  for (Box& box : data.boxes) {
    const auto at = static_cast<std::size_t>(box.category);
    if (to[at] < 0) unknown_category(model, data, data.categories[at]);
    box.category = to[at];
  }
  data.categories = model.categories;
  return data;
}

}  // namespace lockstep::fewshot
