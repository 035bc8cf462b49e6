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

// Ground truth as its files state it. No box is cut at an edge, dropped or rounded. Sizes of
// pictures are ignored, and no picture is examined.
struct GroundTruth {
  std::string name;                    // of the file or folder, for messages
  std::vector<Category> categories;    // by id; a name may be repeated
  std::vector<NamedPicture> pictures;  // file_name: as the file has it; "": it has none
  std::vector<TrueBox> boxes;          // in the order of the file
  std::vector<std::string> notes;      // what pycocotools does differently or skips, one per line

  std::vector<std::int64_t> category_ids() const;
};

// Reads COCO's json as pycocotools does: `ignore` has no effect, and annotations of pictures or
// categories that are not listed are skipped, with a note. A missing area is the area of the box.
// Throws Error for a file that is not COCO's or has no pictures or categories, for repeated ids,
// and for values that are not numbers.
GroundTruth parse_truth(std::string_view text, const std::string& name);
// For Pascal VOC, `difficult` becomes TrueBox::ignore, and a picture that does not exist has its
// xml's name. Throws Error.
GroundTruth read_truth(const DetectionFiles& files);
// Reads the validation set as training does, with the training set's ids for the names of
// categories. If there is none, reads the pictures that choose_valid holds back by their names; for
// that, pictures of Pascal VOC must exist. Throws Error, also for boxes of a category that the
// training set lacks.
GroundTruth read_valid_truth(const FoundData& found, double share, std::uint64_t seed);

}  // namespace lockstep::fewshot
