// COCO's json of object detection ("instances"): read, and written.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/annotations/picture_look.h"

namespace lockstep::fewshot {

// Reads `images` (id, file_name, width, height), `categories` (id, name) and `annotations` (id,
// image_id, category_id, bbox = x, y, w, h, area, iscrowd, ignore). Everything else, masks too, is
// passed over. iscrowd, ignore and area may be missing. An annotation without bbox belongs to
// another task and is an Error.
//
// If two categories have one name, one without annotations is skipped (Roboflow's root, which is
// named like the project). If neither has annotations, the one that is the other's supercategory is
// skipped.
//
// folders: where the pictures may lie. A file_name is looked for in them as it is written, with `/`
// for its `\`, and by its last part alone, since some tools write a path or an address of theirs.
// The way that finds the first picture is taken for all that it finds. Each picture must be there,
// and no two may be one file. rule: what is looked at of the pictures (look_at_pictures). A picture
// whose width or height the json does not say (or says as 0) is opened for them.
//
// Boxes that leave the picture are cut, those without extent dropped, both counted (Repairs).
// Throws Error, which names the file and an id or a place in a list: no json, too deep, no COCO
// file (results of a detector too), ids that come twice, names of categories or files that come
// twice, an annotation of an unknown image or category, a number that is not finite or no number,
// extents of a picture below 0 or above 65,535, a file without pictures, categories or boxes that
// count, pictures that are missing (how many, and the first).
//
// Memory: the text is read event by event, so that it takes the file's size once and beside it
// about 130 bytes a box and 300 a picture. A file like instances_train2017.json (431 MiB, 860,001
// boxes, 118,287 pictures) takes 604 MiB and 6 s while it is read, and 100 MiB after.
DetectionData read_coco(const std::filesystem::path& json,
                        std::span<const std::filesystem::path> folders,
                        const PictureRule& rule = {});
DetectionData read_coco(const std::filesystem::path& json, const std::filesystem::path& folder,
                        const PictureRule& rule = {});

// The same of a text, looking at no file: paths are folder / file_name, and width and height must
// be there. name: of the text, for messages.
DetectionData parse_coco(std::string_view text, const std::string& name,
                         const std::filesystem::path& folder);

// The json that read_coco reads back as the same pictures, boxes and categories. File names are
// those of the paths, without folders. description: goes into `info`.
std::string coco_json(const DetectionData& data, const std::string& description);

}  // namespace lockstep::fewshot
