// Reads or draws the supports, which are the labelled examples of classes that prediction needs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recipes/fewshot/sets/sets.h"
#include "recipes/fewshot/sets/support_list.h"

namespace lockstep::fewshot {

// Reads the table of the option predict.supports, with one example per row. These columns are used:
//   - file (or filename, image, path), relative to `folder`, or to the table's folder if `folder`
//     is empty.
//   - class (or class_name, label, name).
//   - x, y, w, h (or x, y, width, height), or the corners x_min, y_min, x_max, y_max (or xmin, …).
//     Boxes are in pixels and are cut at the picture's edges. If all four cells are empty or the
//     columns are missing, the whole picture is the example.
// Boxes refer to the stored pixels if `exif` is `stored`. Otherwise, they refer to the picture as
// its EXIF orientation turns it.
//
// Throws Error, which names file and line, for a missing picture. Also throws Error for a box that
// lacks one to three numbers, or shows less than a pixel of its picture. Also throws Error for a
// missing column and for a table without rows.
SupportList read_supports(const std::filesystem::path& table, const std::filesystem::path& folder,
                          ExifFrame exif = ExifFrame::automatic);

// Returns up to `shots` boxes of each class from the training set, each from a different picture.
// Pictures and boxes are drawn from `seed`. A class without pictures is left out.
SupportList supports_of_training(const Sets& sets, const std::vector<int>& classes,
                                 std::int64_t shots, std::uint64_t seed);

}  // namespace lockstep::fewshot
