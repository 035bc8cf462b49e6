// Finds the files of a training and a validation set at a path that the user names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/annotations/voc.h"

namespace lockstep::fewshot {

struct CocoFiles {
  std::filesystem::path json;
  // the folders in which the pictures may lie; see read_coco
  std::vector<std::filesystem::path> folders;
};
// The files of one set, not yet read.
using DetectionFiles = std::variant<CocoFiles, VocFolders>;
// Returns a text like "DIR/train.json" or "DIR/Annotations (train.txt)".
std::string describe(const DetectionFiles& files);

struct FoundData {
  DetectionFiles train;
  std::optional<DetectionFiles> valid;  // absent: a share of `train` is held back (choose_valid)
  std::vector<std::string> notes;       // for users: files that were found but are not used
};

// Finds the training and the validation set at a path. path: a folder, a COCO json, or a list of
// VOC names (ImageSets/Main/NAME.txt). In a folder, the training set is looked for in three steps.
// A later step is taken only if the earlier steps find nothing. In these layouts, VALID stands for
// valid, val or validation. Step 1, files of COCO:
//   train.json, VALID.json
//   train_coco.json, VALID_coco.json
//   instances_train*.json, also in annotations/ (COCO; CVAT writes instances_Train.json)
//   annotations/train.json, annotations/VALID.json
//   train/_annotations.coco.json, VALID/_annotations.coco.json (Roboflow)
// Step 2, other names of COCO's files:
//   _annotations.coco.json, annotations.json, instances.json, result.json (Label Studio),
//   labels.json with data/ (FiftyOne), annotations/instances_NAME.json (CVAT and Datumaro)
// Step 3, the first of these layouts of Pascal VOC that the folder has:
//   Annotations/ or annotations/, with JPEGImages/ or images/ beside it. If it has xml files, the
//     lists in ImageSets/Main/ are used: train.txt and VALID.txt, or trainval.txt and test.txt, or
//     trainval.txt alone, or train.txt alone. Without such lists, all xml files are used. Instead
//     of xml files, it may have the folders train/ and VALID/ with xml files, or other folders.
//   train/*.xml, VALID/*.xml (Roboflow's VOC)
//   *.xml beside their pictures
//   VOC20*/ or VOCdevkit/VOC20*/, if exactly one such folder has xml files in Annotations/
//
// Pictures of NAME.json are looked for in NAME/, images/NAME/, NAME_images/, images/ and the json's
// own folder. If the json lies in annotations/, its pictures are also looked for in these folders
// beside annotations/. "instances_" and "_coco" may be missing in the name of the picture folder.
// If none of the folders with NAME exists, each word of NAME is tried instead (val_images/ for
// val_annotations.json).
//
// The validation set of a json with "train" in its name is a json beside it. The name of that json
// has valid, val or validation in place of "train"; the case of "train" is ignored. If only the
// json's folder has "train" in its name, the folder's name is changed in this way instead. A test
// set is not used as the validation set. A json with a name like val_annotations.json is not used
// either, because its relation to the training set is not certain. `notes` then names the unused
// files.
//
// Throws Error if no training set is found; the error lists what was looked for, and the jsons that
// exist. Also throws Error if the path has a data set for YOLO. Also throws Error if several sets
// may be the training set; the message lists them.
FoundData find_detection_data(const std::filesystem::path& path);

// Returns the files of one set that the user names. annotations: a COCO json, a folder of VOC's xml
// files, or a list of VOC names (ImageSets/Main/NAME.txt). pictures: the folder of the set's
// pictures. If `pictures` is empty, they are looked for beside the annotations. Throws Error if a
// path does not exist.
DetectionFiles name_detection_files(const std::filesystem::path& annotations,
                                    const std::filesystem::path& pictures);

// Changes `files` so that pictures are read only from `folder`. Throws Error if `folder` is not a
// folder.
void take_pictures_from(const std::filesystem::path& folder, DetectionFiles& files);

DetectionData read_detection_data(const DetectionFiles& files, const PictureRule& rule = {});

// Returns for each picture whether it is held back for validation. `share` of the pictures are held
// back, with 0 < share < 1. At least one picture is held back, and at least one is not. The order
// in which pictures are chosen depends only on `seed` and the pictures' file names without folders.
// So most pictures stay in the same set when pictures are added to `data`. Throws Error for a set
// of one picture.
std::vector<bool> choose_valid(const DetectionData& data, double share, std::uint64_t seed);

struct DetectionSets {
  DetectionData train, valid;  // both with the categories of train
  bool split_off = false;      // whether valid was split off from train
  std::vector<std::string> warnings;
};
// Reads the training and the validation set. If `found` has no validation set, choose_valid splits
// it off with `share` and `seed`. A picture that is in both sets is an Error, because a model must
// not be evaluated on its training data.
DetectionSets read_detection_sets(const FoundData& found, double share, std::uint64_t seed,
                                  const PictureRule& rule = {});

}  // namespace lockstep::fewshot
