// Writes a set as a COCO file.
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/annotations/coco.h"

namespace lockstep::fewshot {

std::string coco_json(const DetectionData& data, const std::string& description) {
  using nlohmann::ordered_json;
  ordered_json images = ordered_json::array(), categories = ordered_json::array(),
               annotations = ordered_json::array();
  for (const Picture& picture : data.pictures)
    images.push_back({{"id", picture.id},
                      {"file_name", picture.path.filename().string()},
                      {"width", picture.width},
                      {"height", picture.height}});
  for (const Category& category : data.categories)
    categories.push_back({{"id", category.id}, {"name", category.name}});
  for (const Box& box : data.boxes) {
    ordered_json one{{"id", box.id},
                     {"image_id", data.pictures[static_cast<std::size_t>(box.picture)].id},
                     {"category_id", data.categories[static_cast<std::size_t>(box.category)].id},
                     {"bbox", {box.x, box.y, box.w, box.h}},
                     {"area", box.area},
                     {"iscrowd", box.crowd ? 1 : 0}};
    if (box.difficult) one["ignore"] = 1;
    annotations.push_back(std::move(one));
  }
  const ordered_json file{{"info", {{"description", description}}},
                          {"images", std::move(images)},
                          {"categories", std::move(categories)},
                          {"annotations", std::move(annotations)}};
  return file.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace lockstep::fewshot
