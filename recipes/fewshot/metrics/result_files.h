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
  std::string file_name;  // with or without folders; empty if not known
};

// Returns the file name without folders and ending: "a" for "images/a.jpg". Names are compared in
// this form, because the ground truth and the detections may have other endings.
std::string_view stem_of(std::string_view file_name);

// Returns json that pycocotools' loadRes reads, with one object per line: [{"image_id",
// "category_id", "bbox": [x, y, width, height], "score"}, …]. Throws Error for numbers that are not
// finite.
std::string results_json(std::span<const Detection> detections);

// The pictures and classes of the ground truth, in any order. A file of detections refers to them.
struct KnownIds {
  std::vector<NamedPicture> pictures;
  std::vector<NamedClass> classes;
};

struct ReadDetections {
  std::vector<Detection> detections;  // in the order of the file
  // Number of entries of unknown classes, which are skipped as in pycocotools.
  std::int64_t of_other_classes = 0;
  std::string first_other_class;   // such as "category_id 77" or "class_name 'rook'"
  std::vector<std::string> notes;  // for users: names that do not identify one picture for certain
};

// Reads a json as results_json writes it. An entry may also have the members file_name and
// category_name, as `lockstep predict` writes them. These must be names of the picture and the
// class with the entry's ids. NamedPictures says which pictures a file_name fits. Other members are
// skipped.
//
// Throws Error, which names file and entry (from 0), for:
//   - text that is not JSON, or anything but a list of objects;
//   - a member that is missing or of another type;
//   - an unknown image_id, or an id that the entry's file_name or category_name contradicts;
//   - a score that is not finite;
//   - a bbox that is not four finite numbers, or has a negative width or height.
ReadDetections parse_results_json(std::string_view text, const std::string& name,
                                  const KnownIds& known);
ReadDetections read_results_json(const std::filesystem::path& path, const KnownIds& known);

// Returns CSV with the columns x_min,y_min,x_max,y_max,filename,class_name,similarity_score. Throws
// Error for a picture or class that `pictures` or `classes` lacks, and for numbers that are not
// finite.
std::string results_csv(std::span<const Detection> detections,
                        std::span<const NamedPicture> pictures,
                        std::span<const NamedClass> classes);
// Reads CSV with the columns of results_csv, in any order. Pictures are identified by their names
// (NamedPictures). Throws Error, which names file and line, for an unknown picture and for invalid
// numbers. Also throws Error for a name that two pictures or two classes have.
ReadDetections parse_results_csv(std::string_view text, const std::string& name,
                                 const KnownIds& known);
ReadDetections read_results_csv(const std::filesystem::path& path, const KnownIds& known);

}  // namespace lockstep::fewshot
