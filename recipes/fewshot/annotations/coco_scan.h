// Reads the lists of a COCO json: images, categories and annotations. Does not check whether the
// image and category ids of annotations exist.
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
  RawBox box;                  // all 0 if bbox is empty
  std::optional<double> area;  // absent if not stated
  bool crowd = false, ignore = false;
};
struct CocoLists {
  std::vector<CocoImage> images;
  std::vector<Category> categories;
  // the supercategory of each of `categories`; empty if it has none
  std::vector<std::string> parents;
  std::vector<CocoAnnotation> annotations;
};

// The purpose for which the lists are read. For `scores`, detections are compared with the boxes,
// so only ids and boxes are needed. Names of files and categories may then be missing, and are left
// empty. For `scores`, widths and heights of pictures are not read either.
enum class CocoUse : std::uint8_t { training, scores };

// Reads the text without building a tree of it. name: the text's name in messages. Throws Error for
// text that is not json. Also throws Error for a fault within one entry of a list, such as a
// missing id. The message names the entry by its list and index.
CocoLists scan_coco(std::string_view text, const std::string& name,
                    CocoUse use = CocoUse::training);

}  // namespace lockstep::fewshot
