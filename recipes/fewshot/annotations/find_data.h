// Finds a training and a validation set at a path, in common layouts.
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
  std::vector<std::filesystem::path> folders;  // where the pictures may lie; see read_coco
};
// The files of one set, not yet read.
using DetectionFiles = std::variant<CocoFiles, VocFolders>;
std::string describe(
    const DetectionFiles& files);  // "DIR/train.json", "DIR/Annotations (train.txt)"

struct FoundData {
  DetectionFiles train;
  std::optional<DetectionFiles> valid;  // nothing: a share of `train` is held back (choose_valid)
  std::vector<std::string> notes;       // for people: files that exist there and are not used
};

// path: a folder, a COCO json, or a list of VOC names (ImageSets/Main/NAME.txt). A folder may have
// these files of COCO, where VALID stands for valid, val or validation:
//   train.json, VALID.json (pictures in train/, VALID/; also images/… and other places, see below)
//   train_coco.json, val_coco.json
//   instances_train*.json, also in annotations/ (COCO; CVAT's instances_Train.json)
//   annotations/train.json, annotations/VALID.json
//   train/_annotations.coco.json, VALID/_annotations.coco.json (Roboflow)
// or, without any of these:
//   _annotations.coco.json, annotations.json, instances.json, result.json (Label Studio),
//   labels.json with data/ (FiftyOne), annotations/instances_NAME.json (CVAT and Datumaro)
// or, without these, the first of these layouts of Pascal VOC:
//   Annotations/ + JPEGImages/ + ImageSets/Main/{train,VALID}.txt, else {trainval,test}.txt, else
//     train.txt or trainval.txt, else all (VOC); also annotations/ + images/, xml files in folders
//     below it, annotations/train/ and annotations/VALID/
//   train/*.xml, VALID/*.xml (Roboflow's VOC)
//   *.xml beside their pictures
//   the only folder VOC20*/ or VOCdevkit/VOC20*/ below that is one of VOC
// Pictures of DIR/NAME.json are looked for in DIR/NAME/, DIR/images/NAME/, DIR/images/ and DIR, and
// also beside annotations/. There NAME is the json's name without "instances_" and "_coco". If no
// folder has that name, a folder with a word of the name is used (val_images/ for
// val_annotations.json). If a json has "train" in its name, in any case, its validation set is the
// file beside it that has valid, val or validation there instead. A test set is not used. A json
// whose name means validation in another form (val_annotations.json) is not used either, and
// `notes` says so. Throws Error if nothing is there (it lists what was looked for, and the jsons
// that exist), if the set is for YOLO, or if several sets may be meant (it lists them).
FoundData find_detection_data(const std::filesystem::path& path);

// The files of a set that the user names. annotations: a json, a folder of xml files, or a list of
// names (ImageSets/Main/NAME.txt). pictures: the folder of its pictures; empty: it is looked for
// beside the annotations. Throws Error.
DetectionFiles name_detection_files(const std::filesystem::path& annotations,
                                    const std::filesystem::path& pictures);

// Changes a set so that its pictures are read only from this folder. Throws Error unless it is a
// folder.
void take_pictures_from(const std::filesystem::path& folder, DetectionFiles& files);

DetectionData read_detection_data(const DetectionFiles& files, const PictureRule& rule = {});

// Whether each picture is held back for validation: `share` of them (0 < share < 1), but at least
// one and not all, and always whole pictures. They are drawn from `seed` and the picture's file
// name alone (the part after the last slash, of either kind). So pictures mostly stay on their side
// when others are added. Throws Error for a set of one picture.
std::vector<bool> choose_valid(const DetectionData& data, double share, std::uint64_t seed);

struct DetectionSets {
  DetectionData train, valid;  // of the same categories
  bool split_off = false;      // valid was split off from train
  std::vector<std::string> warnings;
};
// Reads both sets. share, seed: for choose_valid, if there is no validation set. A file that both
// sets name is an Error, because a model must not be evaluated on its training data.
DetectionSets read_detection_sets(const FoundData& found, double share, std::uint64_t seed,
                                  const PictureRule& rule = {});

}  // namespace lockstep::fewshot
