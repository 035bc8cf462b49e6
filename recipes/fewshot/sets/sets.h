// Records which data a run uses, and reads the training and the validation set by this record. Both
// the command-line tool and each worker process read the sets in this way.
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

// The data of a run, as run.json records them.
struct SetsRecord {
  FoundData files;
  bool has_files = true;  // false in an export, which does not record where files lie
  double valid_share = 0.2;
  std::uint64_t seed = 1;
  std::vector<std::string> base, novel;  // names of the classes
  std::string fingerprint;  // hash of categories, picture names, sizes and boxes of both sets
  std::string contents;     // hash by contents_of; empty in runs of older versions
  ExifFrame exif = ExifFrame::automatic;
  bool look = false;  // see needs_look
};
nlohmann::json to_json(const SetsRecord& record);
SetsRecord sets_record_from_json(const nlohmann::json& json);  // throws Error if damaged

struct Sets {
  DetectionData train, valid;  // both with the categories of train
  ClassSplit split;
  std::vector<std::string> warnings;
};
// Reads the sets of a record. look: whether the headers of all pictures are read (PictureRule).
// Headers are also read if record.look is true. Throws Error as read_detection_sets does, and for
// recorded classes that do not exist. Also throws Error if the sets have changed since
// record.fingerprint was made. With `look`, also throws Error if files of pictures have changed
// since record.contents was made. A recorded hash that is empty is not compared.
Sets read_sets(const SetsRecord& record, bool look = false);
// Whether headers must be read again whenever the sets are read. This is so if some pictures have
// an EXIF orientation, or if the annotations exchange some widths and heights. The headers of both
// sets must have been read before the call.
bool needs_look(const DetectionData& train, const DetectionData& valid);
// Adds the record's split of classes to the sets. read: the sets, read from the record's files with
// its share and seed. Throws Error for recorded classes that do not exist.
Sets with_split(DetectionSets read, const SetsRecord& record);
std::string fingerprint_of(const DetectionData& train, const DetectionData& valid);
// Returns a hash of Picture::content_hash of all pictures. The headers of both sets must have been
// read before the call.
std::string contents_of(const DetectionData& train, const DetectionData& valid);

// Returns the classes that training draws, as indexes of categories in ascending order.
std::vector<int> used_classes(const ClassSplit& split, ClassUse use);

// Keeps at most `shots` boxes of each class in `classes`, or all boxes if `shots` is 0. Pictures
// are put in an order drawn from `seed`. The class's first box in each picture in turn is kept,
// then its second box in each picture, and so on. Other boxes of the class become difficult, so
// they are neither objects nor background.
void keep_shots(DetectionData& data, const std::vector<int>& classes, std::int64_t shots,
                std::uint64_t seed);

// Returns the largest number of boxes that a picture has, but at least 1.
std::int64_t most_boxes(const DetectionData& data);

}  // namespace lockstep::fewshot
