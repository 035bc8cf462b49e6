// From a path to a training and a validation set, in the layouts that users have.
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
  std::vector<std::filesystem::path> folders;  // where the pictures may lie, see read_coco
};
// One set of pictures, not yet read.
using DetectionFiles = std::variant<CocoFiles, VocFolders>;
std::string describe(
    const DetectionFiles& files);  // "DIR/train.json", "DIR/Annotations (train.txt)"

struct FoundData {
  DetectionFiles train;
  std::optional<DetectionFiles> valid;  // nothing: a share of `train` is split off (choose_valid)
  std::vector<std::string> notes;       // for people: what lies there and is not used
};

// path: a folder, a COCO json, or a list of VOC names (ImageSets/Main/NAME.txt). A folder may have
// these files of COCO, where VALID stands for valid, val and validation:
//   train.json, VALID.json (pictures in train/, VALID/; also images/… and other places, see below)
//   train_coco.json, val_coco.json
//   instances_train*.json, also in annotations/ (COCO; CVAT's instances_Train.json)
//   annotations/train.json, annotations/VALID.json
//   train/_annotations.coco.json, VALID/_annotations.coco.json (Roboflow)
// without any of these:
//   _annotations.coco.json, annotations.json, instances.json, result.json (Label Studio),
//   labels.json with data/ (FiftyOne), annotations/instances_NAME.json (CVAT and Datumaro)
// and without these, the first of these of Pascal VOC:
//   Annotations/ + JPEGImages/ + ImageSets/Main/{train,VALID}.txt, else {trainval,test}.txt, else
//     train.txt or trainval.txt, else all (VOC); also annotations/ + images/, xml files in folders
//     below it, annotations/train/ and annotations/VALID/
//   train/*.xml, VALID/*.xml (Roboflow's VOC)
//   *.xml beside their pictures
//   the only folder VOC20*/ or VOCdevkit/VOC20*/ below that is one of VOC
// Pictures of DIR/NAME.json are looked for in DIR/NAME/, DIR/images/NAME/, DIR/images/ and DIR,
// where NAME is the json's without "instances_" and "_coco"; beside annotations/ too. If there is
// no folder of that name, one of a word in it is taken (val_images/ for val_annotations.json). A
// json may have "train" in its name, in any case. Then its validation set is the file beside it
// with valid, val or validation in that place, if there is one. A test set is not used, nor is a
// json whose name says validation in another way (val_annotations.json), which `notes` says. Throws
// Error: nothing is there (it lists what was looked for and what jsons there are), a set for YOLO,
// or several that may be meant (it lists them).
FoundData find_detection_data(const std::filesystem::path& path);

// One set that the user names. annotations: a json, a folder of xml files, or a list of names
// (ImageSets/Main/NAME.txt). pictures: the folder of its pictures; empty: looked for beside the
// annotations. Throws Error.
DetectionFiles name_detection_files(const std::filesystem::path& annotations,
                                    const std::filesystem::path& pictures);

// Reads the pictures of a set from this folder alone. Throws Error unless it is a folder.
void take_pictures_from(const std::filesystem::path& folder, DetectionFiles& files);

DetectionData read_detection_data(const DetectionFiles& files, const PictureRule& rule = {});

// Whether each picture is held back for validation: `share` of them (0 < share < 1, but at least
// one and not all), always whole pictures. They are drawn from `seed` and the picture's file name
// alone (what follows the last slash, of either kind). So a picture stays where it is when others
// come, as far as numbers allow. Throws Error for a set of one picture.
std::vector<bool> choose_valid(const DetectionData& data, double share, std::uint64_t seed);

struct DetectionSets {
  DetectionData train, valid;  // of the same categories
  bool split_off = false;      // valid was a part of train
  std::vector<std::string> warnings;
};
// Both sets read. share, seed: of choose_valid, if there is no validation set. A file that both
// sets name is an Error, because a model must not be judged by what it has learned.
DetectionSets read_detection_sets(const FoundData& found, double share, std::uint64_t seed,
                                  const PictureRule& rule = {});

}  // namespace lockstep::fewshot
