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
// y, w, h or x_min, y_min, x_max, y_max, which may be empty. folder: file names are relative to it;
// empty: to the table's folder. Boxes refer to the picture as EXIF turns it, unless `exif` is
// stored.
// Throws Error, which names file and line, for a missing picture, a box that has no extent or lies
// outside its picture, and a table without rows.
SupportList read_supports(const std::filesystem::path& table, const std::filesystem::path& folder,
                          ExifFrame exif = ExifFrame::automatic);

// Returns `shots` boxes of each class from the training set, drawn from `seed`, in as many
// different pictures as there are.
SupportList supports_of_training(const Sets& sets, const std::vector<int>& classes,
                                 std::int64_t shots, std::uint64_t seed);

}  // namespace lockstep::fewshot
