// Ground truth for scores.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/annotations/find_data.h"
#include "recipes/fewshot/metrics/boxes.h"
#include "recipes/fewshot/metrics/result_files.h"

namespace lockstep::fewshot {

// As its files say it: no box is cut at an edge, dropped or rounded, sizes of pictures play no
// part, and no picture is looked at.
struct GroundTruth {
  std::string name;                    // of the file or folder, for messages
  std::vector<Category> categories;    // by id; a name may come twice
  std::vector<NamedPicture> pictures;  // file_name: as the file has it; "": it has none
  std::vector<TrueBox> boxes;          // in the order of the file
  std::vector<std::string> notes;      // what pycocotools does otherwise or skips, a line each

  std::vector<std::int64_t> category_ids() const;
};

// COCO's json, as pycocotools takes it: `ignore` plays no part, and annotations of pictures or
// categories that are not in the lists are skipped, with a note. An area that is missing is that of
// the box. Throws Error: no COCO file, no pictures or categories, ids that come twice, what is no
// number.
GroundTruth parse_truth(std::string_view text, const std::string& name);
// In Pascal VOC, `difficult` is TrueBox::ignore, and a picture that is not there has its xml's
// name. Throws Error.
GroundTruth read_truth(const DetectionFiles& files);
// The validation set as training reads it, with the ids that the training set has for the names of
// categories. If there is none, the pictures that choose_valid holds back by their names; pictures
// of Pascal VOC must be there for that. Throws Error, also for boxes of a category that the
// training set lacks.
GroundTruth read_valid_truth(const FoundData& found, double share, std::uint64_t seed);

}  // namespace lockstep::fewshot
