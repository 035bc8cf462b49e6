// Reads and writes files of detections: COCO's results json, and CSV.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/fewshot/metrics/boxes.h"

namespace lockstep::fewshot {

struct NamedPicture {
  std::int64_t picture = 0;
  std::string file_name;  // with or without folders; "": not known
};

// "a" for "images/a.jpg". Results name a picture by it, because endings may differ.
std::string_view stem_of(std::string_view file_name);

// [{"image_id", "category_id", "bbox": [x, y, width, height], "score"}, …], one per line, as
// pycocotools' loadRes reads it. Throws Error for numbers that are not finite.
std::string results_json(std::span<const Detection> detections);

// The ids that a file of detections may refer to: the lists of the ground truth, in any order.
struct KnownIds {
  std::vector<NamedPicture> pictures;
  std::vector<NamedClass> classes;
};

struct ReadDetections {
  std::vector<Detection> detections;  // in the order of the file
  // Number of entries of unknown classes. They are skipped, as in pycocotools.
  std::int64_t of_other_classes = 0;
  std::string first_other_class;   // "category_id 77", "class_name 'rook'"
  std::vector<std::string> notes;  // doubts about the names of pictures
};

// An entry may also state what its ids stand for, by the members file_name and category_name, as
// `lockstep predict` does. These must then be names of the known picture and class; NamedPictures
// says which picture a file name fits. Other members are skipped. Throws Error, which names file
// and entry (from 0), for: text that is not JSON; anything but a list of objects; a member that is
// missing or of another type; an unknown image_id; an id that by its name belongs to another
// picture or class; a score that is not finite; a bbox that is not four finite numbers or has a
// negative extent.
ReadDetections parse_results_json(std::string_view text, const std::string& name,
                                  const KnownIds& known);
ReadDetections read_results_json(const std::filesystem::path& path, const KnownIds& known);

// Columns: x_min,y_min,x_max,y_max,filename,class_name,similarity_score. Throws Error for a picture
// or class that the lists lack.
std::string results_csv(std::span<const Detection> detections,
                        std::span<const NamedPicture> pictures,
                        std::span<const NamedClass> classes);
// Columns are found by name, in any order. Pictures are identified by their names (NamedPictures).
// Throws Error, which names file and line. It also throws for a name that two pictures or classes
// have.
ReadDetections parse_results_csv(std::string_view text, const std::string& name,
                                 const KnownIds& known);
ReadDetections read_results_csv(const std::filesystem::path& path, const KnownIds& known);

}  // namespace lockstep::fewshot
