// Reads and writes COCO's annotation json for object detection (instances_*.json).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/annotations/picture_look.h"

namespace lockstep::fewshot {

// Reads `images` (id, file_name, width, height), `categories` (id, name, supercategory) and
// `annotations` (id, image_id, category_id, bbox = x, y, w, h, area, iscrowd, ignore). Everything
// else, including masks, is ignored. area, iscrowd and ignore may be missing. An annotation without
// bbox is an Error, because its file is for another task than detection. An annotation whose bbox
// is an empty list is dropped.
//
// Two categories with the same name are an Error if both have annotations. If only one of them has
// annotations, the other is skipped. Roboflow's root category, which has the name of the project,
// is skipped by this rule. If neither category has annotations and one is the other's
// supercategory, the supercategory is skipped. If neither category is the other's supercategory,
// the later one in the list is skipped.
//
// folders: the folders in which the pictures may lie. A file_name is tried in three forms, each in
// every folder:
//   - as it is written;
//   - with `/` in place of each `\`;
//   - its last part alone, because some tools write a local path or a URL.
// The folder and the form that find the first picture are used for all pictures of the json. A
// picture that is not found in this way is searched for in all forms and folders. Each picture must
// exist, and two entries of `images` must not be the same file.
//
// rule: which properties of the pictures are read from their files (look_at_pictures). If the json
// lacks a picture's width or height, or states 0, the size is read from the picture.
//
// Boxes that extend beyond the picture are cut at its edges. A box is dropped if one of its sides
// is then shorter than least_extent. DetectionData::repairs counts cut and dropped boxes, except
// cuts of up to a pixel.
//
// Throws Error, which names the file and, if one entry is at fault, its id or index. The causes
// are:
//   - text that is not json, or is nested too deeply;
//   - a file that is not COCO's annotation json, such as the results of a detector;
//   - repeated ids, or repeated file names;
//   - an annotation of an unknown image or category;
//   - a missing value, or a value that is not a finite number;
//   - a width or height of a picture below 0 or above 65,535;
//   - no picture, no category, or no box that counts (Box::counts);
//   - missing pictures; the message has their number, and the first one.
//
// Memory: no tree of the json's values is built. While it is read, memory holds its text, and about
// 130 bytes per box and 300 per picture. A file like instances_train2017.json (431 MiB, 860,001
// boxes, 118,287 pictures) takes 604 MiB and 6 s while it is read, and 100 MiB afterwards.
DetectionData read_coco(const std::filesystem::path& json,
                        std::span<const std::filesystem::path> folders,
                        const PictureRule& rule = {});
DetectionData read_coco(const std::filesystem::path& json, const std::filesystem::path& folder,
                        const PictureRule& rule = {});

// Reads a json like read_coco, but from a text, and without access to any file. The path of each
// picture is folder / file_name. The json must state the width and height of each picture. name:
// the text's name in messages.
DetectionData parse_coco(std::string_view text, const std::string& name,
                         const std::filesystem::path& folder);

// Returns a json from which read_coco reads the same pictures, boxes and categories. Each file_name
// is the name of the picture's file without folders. description: a text for the json's member
// `info`.
std::string coco_json(const DetectionData& data, const std::string& description);

}  // namespace lockstep::fewshot
