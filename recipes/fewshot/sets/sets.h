// The record of the data that preparation found, and the sets that the tool and each worker read
// according to it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recipes/fewshot/annotations/class_split.h"
#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/annotations/find_data.h"
#include "recipes/fewshot/options/fewshot_options.h"

namespace lockstep::fewshot {

// A part of the run's record.
struct SetsRecord {
  FoundData files;
  bool has_files = true;  // false in an export, which does not say where they lie
  double valid_share = 0.2;
  std::uint64_t seed = 1;
  std::vector<std::string> base, novel;  // names of the classes
  std::string fingerprint;               // of pictures' names, sizes and boxes in both sets
  std::string contents;                  // of pictures' files; "" in runs of older versions
  ExifFrame exif = ExifFrame::automatic;
  bool look = false;  // see needs_look
};
nlohmann::json to_json(const SetsRecord& record);
SetsRecord sets_record_from_json(const nlohmann::json& json);  // throws Error

struct Sets {
  DetectionData train, valid;  // of the same categories
  ClassSplit split;
  std::vector<std::string> warnings;
};
// look: whether to read the headers of all pictures (PictureRule); record.look does that in any
// case. Throws Error as reading does, for classes that do not exist, and if files have changed
// since record.fingerprint was made. With `look`, also throws if pictures have other contents.
Sets read_sets(const SetsRecord& record, bool look = false);
// Whether only a look can tell to which frame boxes refer, because EXIF turns some pictures or the
// annotations exchange some sizes. The sets' pictures must have been examined.
bool needs_look(const DetectionData& train, const DetectionData& valid);
// Adds the split of classes to the sets. read: from the record's files, with its share and seed.
// Throws Error for classes that do not exist.
Sets with_split(DetectionSets read, const SetsRecord& record);
std::string fingerprint_of(const DetectionData& train, const DetectionData& valid);
// A hash of all Picture::content_hash. The pictures must have been examined.
std::string contents_of(const DetectionData& train, const DetectionData& valid);

// Returns the categories that training draws.
std::vector<int> used_classes(const ClassSplit& split, ClassUse use);

// Keeps `shots` boxes of each of `classes` (0: all). It keeps one box of each picture, in an order
// drawn from `seed`, then a second one of each, and so on. All other boxes of these classes become
// difficult: neither objects nor background. A class with fewer boxes keeps all of them.
void keep_shots(DetectionData& data, const std::vector<int>& classes, std::int64_t shots,
                std::uint64_t seed);

// The largest number of boxes in a picture.
std::int64_t most_boxes(const DetectionData& data);

}  // namespace lockstep::fewshot
