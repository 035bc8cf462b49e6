// The lists of a COCO json as they are written, before anything in them is looked up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/annotations/fit_box.h"

namespace lockstep::fewshot {

struct CocoImage {
  std::int64_t id = 0;
  std::string file_name;
  int width = 0, height = 0;  // 0: not said
};
struct CocoAnnotation {
  std::int64_t id = 0, image = 0, category = 0;
  RawBox box;       // all 0 where bbox is []
  double area = 0;  // 0: not said
  bool crowd = false, ignore = false;
};
struct CocoLists {
  std::vector<CocoImage> images;
  std::vector<Category> categories;
  std::vector<std::string> parents;  // [categories]: supercategory, "" if there is none
  std::vector<CocoAnnotation> annotations;
};

// Reads event by event. name: of the text, for messages. Throws Error for all that can be seen in
// one entry alone, with its place in its list.
CocoLists scan_coco(std::string_view text, const std::string& name);

}  // namespace lockstep::fewshot
