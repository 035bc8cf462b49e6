// Reads and writes COCO's json of object detection ("instances").
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/annotations/picture_look.h"

namespace lockstep::fewshot {

// Reads `images` (id, file_name, width, height), `categories` (id, name) and `annotations` (id,
// image_id, category_id, bbox = x, y, w, h, area, iscrowd, ignore). Everything else, including
// masks, is ignored. iscrowd, ignore and area may be missing. An annotation without bbox belongs to
// another task and is an Error.
//
// If two categories have the same name, one without annotations is skipped (Roboflow's root, which
// has the name of the project). If neither has annotations, the one that is the other's
// supercategory is skipped.
//
// folders: where the pictures may lie. A file_name is looked for there in three forms: as it is
// written, with `/` for its `\`, and by its last part alone, since some tools write a path or an
// address of their own. The form that finds the first picture is used for all that it finds. Each
// picture must exist, and no two may be the same file. rule: how closely pictures are examined
// (look_at_pictures). If the json lacks a picture's width or height (or has 0), the picture is
// opened to get it.
//
// Boxes that extend beyond the picture are cut, and those without extent are dropped; both are
// counted (Repairs). Throws Error, which names the file and an id or a place in a list. Causes:
// text that is not json or is too deep; a file that is not COCO's (also results of a detector);
// repeated ids; repeated names of categories or files; an annotation of an unknown image or
// category; a number that is not finite or not a number; extents of a picture below 0 or above
// 65,535; a file without pictures, categories or boxes that count; missing pictures (it says how
// many, and the first).
//
// Memory: the text is read event by event. So reading takes the file's size once, and in addition
// about 130 bytes per box and 300 per picture. A file like instances_train2017.json (431 MiB,
// 860,001 boxes, 118,287 pictures) takes 604 MiB and 6 s while it is read, and 100 MiB afterwards.
DetectionData read_coco(const std::filesystem::path& json,
                        std::span<const std::filesystem::path> folders,
                        const PictureRule& rule = {});
DetectionData read_coco(const std::filesystem::path& json, const std::filesystem::path& folder,
                        const PictureRule& rule = {});

// The same for a text, without looking at any file: paths are folder / file_name, and width and
// height must be stated. name: the text's name in messages.
DetectionData parse_coco(std::string_view text, const std::string& name,
                         const std::filesystem::path& folder);

// Makes a json from which read_coco reads the same pictures, boxes and categories. File names are
// those of the paths, without folders. description: a text for `info`.
std::string coco_json(const DetectionData& data, const std::string& description);

}  // namespace lockstep::fewshot
