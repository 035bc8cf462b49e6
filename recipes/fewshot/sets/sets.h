// The record of the data that preparation found, and the sets that the tool and each worker read by
// it.
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

// Goes into the run's record.
struct SetsRecord {
  FoundData files;
  bool has_files = true;  // not in an export, which does not say where they lie
  double valid_share = 0.2;
  std::uint64_t seed = 1;
  std::vector<std::string> base, novel;  // names of the classes
  std::string fingerprint;               // of pictures' names, sizes and boxes of both sets
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
// look: at the headers of all pictures (PictureRule), which is done anyway with record.look. Throws
// Error as reading does, for classes that are not there, and if files have changed since
// record.fingerprint was taken; with `look`, also if pictures have other contents.
Sets read_sets(const SetsRecord& record, bool look = false);
// Whether only a look tells which frame boxes refer to, because EXIF turns some pictures or the
// annotations exchange some sizes. The sets' pictures must have been looked at.
bool needs_look(const DetectionData& train, const DetectionData& valid);
// The sets with the classes split. read: by the record's files, share and seed. Throws Error for
// classes that are not there.
Sets with_split(DetectionSets read, const SetsRecord& record);
std::string fingerprint_of(const DetectionData& train, const DetectionData& valid);
// The hash of all Picture::content_hash. The pictures must have been looked at.
std::string contents_of(const DetectionData& train, const DetectionData& valid);

// The categories that training draws.
std::vector<int> used_classes(const ClassSplit& split, ClassUse use);

// Leaves `shots` boxes of each of `classes` (0: all): one of each picture in an order drawn from
// `seed`, then a second one, and so on. All their other boxes become difficult, neither objects nor
// background. A class with fewer boxes keeps them.
void keep_shots(DetectionData& data, const std::vector<int>& classes, std::int64_t shots,
                std::uint64_t seed);

// The most boxes that a picture has.
std::int64_t most_boxes(const DetectionData& data);

}  // namespace lockstep::fewshot
