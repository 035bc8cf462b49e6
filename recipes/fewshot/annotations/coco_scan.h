// The lists of a COCO json as they are written, before anything in them is looked up.
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
  int width = 0, height = 0;  // 0: not said
};
struct CocoAnnotation {
  std::int64_t id = 0, image = 0, category = 0;
  RawBox box;                  // all 0 where bbox is []
  std::optional<double> area;  // nothing: not said
  bool crowd = false, ignore = false;
};
struct CocoLists {
  std::vector<CocoImage> images;
  std::vector<Category> categories;
  std::vector<std::string> parents;  // [categories]: supercategory, "" if there is none
  std::vector<CocoAnnotation> annotations;
};

// Scores need only ids and boxes. Names of files and of categories may then be missing (and are
// ""), and the pictures' sizes are not looked at.
enum class CocoUse : std::uint8_t { training, scores };

// Reads event by event. name: of the text, for messages. Throws Error for all that can be seen in
// one entry alone, with its place in its list.
CocoLists scan_coco(std::string_view text, const std::string& name,
                    CocoUse use = CocoUse::training);

}  // namespace lockstep::fewshot
