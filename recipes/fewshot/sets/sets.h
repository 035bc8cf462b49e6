// Records the data that preparation found, and reads the sets from this record. Both the tool and
// each worker read them in this way.
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

// The data of a run, as a part of the run's record.
struct SetsRecord {
  FoundData files;
  bool has_files = true;  // false in an export, which does not say where files lie
  double valid_share = 0.2;
  std::uint64_t seed = 1;
  std::vector<std::string> base, novel;  // names of the classes
  std::string fingerprint;  // hash of categories, picture names, sizes and boxes of both sets
  std::string contents;     // hash by contents_of; empty in runs of older versions
  ExifFrame exif = ExifFrame::automatic;
  bool look = false;  // see needs_look
};
nlohmann::json to_json(const SetsRecord& record);
SetsRecord sets_record_from_json(const nlohmann::json& json);  // throws Error

struct Sets {
  DetectionData train, valid;  // both with the categories of train
  ClassSplit split;
  std::vector<std::string> warnings;
};
// Reads the sets of a record. look: whether the headers of all pictures are read (PictureRule).
// They are also read if record.look is true. Throws Error as read_detection_sets does, and for
// classes that do not exist. Also throws if the sets have changed since record.fingerprint was
// made. With `look`, also throws if files of pictures have changed since record.contents was made.
// An empty hash is not compared.
Sets read_sets(const SetsRecord& record, bool look = false);
// Whether headers must be read again whenever the sets are read. This is so if EXIF turns some
// pictures, or if the annotations exchange some widths and heights. The headers of both sets must
// have been read.
bool needs_look(const DetectionData& train, const DetectionData& valid);
// Adds the record's split of classes to the sets. read: the sets, read from the record's files with
// its share and seed. Throws Error for classes that do not exist.
Sets with_split(DetectionSets read, const SetsRecord& record);
std::string fingerprint_of(const DetectionData& train, const DetectionData& valid);
// Returns a hash of all Picture::content_hash. The headers of both sets must have been read.
std::string contents_of(const DetectionData& train, const DetectionData& valid);

// Returns the classes that training draws, as indexes of categories in ascending order.
std::vector<int> used_classes(const ClassSplit& split, ClassUse use);

// Keeps at most `shots` boxes of each of `classes`, or all if `shots` is 0. Pictures are put in an
// order drawn from `seed`. The first box of each picture in turn is kept, then the second box of
// each, and so on. Further boxes of these classes become difficult, so they are neither objects nor
// background.
void keep_shots(DetectionData& data, const std::vector<int>& classes, std::int64_t shots,
                std::uint64_t seed);

// Returns the largest number of boxes in a picture, but at least 1.
std::int64_t most_boxes(const DetectionData& data);

}  // namespace lockstep::fewshot
