// Examples of classes, for prediction.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recipes/fewshot/sets/sets.h"
#include "recipes/fewshot/sets/support_list.h"

namespace lockstep::fewshot {

// Reads predict.supports. Its columns are file (or filename), class (or class_name, label), and x,
// y, w, h or x_min, y_min, x_max, y_max, which may be empty. folder: the one that file names are
// relative to; empty: the table's. Boxes are of the picture as EXIF turns it, unless `exif` says
// stored.
// Throws Error, which names file and line: a picture that is missing, a box without extent or
// outside of it, a table without rows.
SupportList read_supports(const std::filesystem::path& table, const std::filesystem::path& folder,
                          ExifFrame exif = ExifFrame::automatic);

// `shots` boxes of each class from the training set, drawn from `seed`: from as many pictures as
// there are.
SupportList supports_of_training(const Sets& sets, const std::vector<int>& classes,
                                 std::int64_t shots, std::uint64_t seed);

}  // namespace lockstep::fewshot
