// Reads the lists of a COCO json as they are written, without resolving their references.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/annotations/fit_box.h"

namespace lockstep::fewshot {

struct CocoImage {
  std::int64_t id = 0;
  std::string file_name;
  int width = 0, height = 0;  // 0: not stated
};
struct CocoAnnotation {
  std::int64_t id = 0, image = 0, category = 0;
  RawBox box;                  // all 0 if bbox is []
  std::optional<double> area;  // nothing: not stated
  bool crowd = false, ignore = false;
};
struct CocoLists {
  std::vector<CocoImage> images;
  std::vector<Category> categories;
  std::vector<std::string> parents;  // [categories]: supercategory, "" if there is none
  std::vector<CocoAnnotation> annotations;
};

// The purpose for which the lists are read. Scores need only ids and boxes, so names of files and
// of categories may be missing (they are then ""), and the pictures' sizes are not read.
enum class CocoUse : std::uint8_t { training, scores };

// Reads event by event. name: the text's name in messages. Throws Error for every fault that a
// single entry shows by itself; it names the entry's place in its list.
CocoLists scan_coco(std::string_view text, const std::string& name,
                    CocoUse use = CocoUse::training);

}  // namespace lockstep::fewshot
