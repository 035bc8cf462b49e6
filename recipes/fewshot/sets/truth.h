// Reads the ground truth with which `lockstep score` compares detections.
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

// Ground truth as its files state it. Boxes are neither cut at an edge nor dropped nor rounded.
// Sizes of pictures are ignored, and no picture is opened.
struct GroundTruth {
  std::string name;                    // the file or folder, for messages
  std::vector<Category> categories;    // in the order of ids; names may be repeated
  std::vector<NamedPicture> pictures;  // file_name as the file has it; empty if it has none
  std::vector<TrueBox> boxes;          // in the order of the file
  std::vector<std::string> notes;      // entries that pycocotools skips or treats otherwise

  std::vector<std::int64_t> category_ids() const;
};

// Reads COCO's json as pycocotools does. `ignore` has no effect. Annotations of pictures or
// categories that are not listed are skipped, with a note. A missing area becomes width x height of
// the box, with a note. Throws Error for a file that is not COCO's or has no pictures or
// categories. Also throws for repeated ids, and for values of a wrong type.
GroundTruth parse_truth(std::string_view text, const std::string& name);
// Reads COCO or Pascal VOC. For VOC, `difficult` becomes TrueBox::ignore. If the file of a VOC
// picture does not exist, its name is that of the xml with the ending .jpg. Throws Error.
GroundTruth read_truth(const DetectionFiles& files);
// Reads the validation set. Its categories get the ids that the training set has for their names.
// If there is no validation set, returns the pictures of the training set that choose_valid holds
// back. Pictures of Pascal VOC must then exist, because their file names decide. Throws Error, also
// for boxes of a category that the training set lacks.
GroundTruth read_valid_truth(const FoundData& found, double share, std::uint64_t seed);

}  // namespace lockstep::fewshot
