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

// Ground truth as its files state it. Boxes are neither cut at the edges of pictures nor dropped
// nor rounded. Sizes of pictures are ignored, and no picture is opened.
struct GroundTruth {
  std::string name;                    // the file or folder, for messages
  std::vector<Category> categories;    // in the order of ids; names may be repeated
  std::vector<NamedPicture> pictures;  // file_name: as the file states it; empty if it states none
  std::vector<TrueBox> boxes;          // in the order of the file
  // for users: entries that are skipped, or that pycocotools treats differently
  std::vector<std::string> notes;

  std::vector<std::int64_t> category_ids() const;
};

// Reads COCO's json as pycocotools does. `ignore` has no effect. Annotations of pictures or
// categories that are not listed are skipped. A missing area becomes width x height of the box.
// GroundTruth::notes reports both. Throws Error if the text is not COCO's json, or has no pictures
// or no categories. Also throws Error for repeated ids, and for values of a wrong type.
GroundTruth parse_truth(std::string_view text, const std::string& name);
// Reads annotations of COCO or Pascal VOC. For VOC, `difficult` becomes TrueBox::ignore. If the
// file of a VOC picture does not exist, its file_name is the xml file's name with the ending .jpg.
// Throws Error as parse_truth or scan_voc does, or if a file cannot be read.
GroundTruth read_truth(const DetectionFiles& files);
// Reads the validation set. Its categories get the ids that the training set has for their names.
// If there is no validation set, returns the pictures of the training set that choose_valid holds
// back. Pictures of Pascal VOC must then exist, because choose_valid needs their file names. Throws
// Error as read_truth does, and for boxes of a category that the training set lacks.
GroundTruth read_valid_truth(const FoundData& found, double share, std::uint64_t seed);

}  // namespace lockstep::fewshot
