// Files of detections: COCO's results json, and CSV.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/fewshot/metrics/boxes.h"

namespace lockstep::fewshot {

struct NamedPicture {
  std::int64_t picture = 0;
  std::string file_name;
};

// [{"image_id", "category_id", "bbox": [x, y, width, height], "score"}, …], a line each, as
// pycocotools' loadRes reads it. Throws Error for numbers that are not finite.
std::string results_json(std::span<const Detection> detections);

// What a results file may refer to.
struct KnownIds {
  std::vector<std::int64_t> pictures, categories;  // in any order
};

// In the order of the file; other members of an entry are passed over. Throws Error, which names
// file and entry (from 0): no list of objects, no JSON, a member missing or of another type, an
// unknown image_id or category_id, a score that is not finite, a bbox that is not four finite
// numbers or has a negative extent.
std::vector<Detection> parse_results_json(std::string_view text, const std::string& name,
                                          const KnownIds& known);
std::vector<Detection> read_results_json(const std::filesystem::path& path, const KnownIds& known);

// x_min,y_min,x_max,y_max,filename,class_name,similarity_score. Throws Error for a picture or class
// that the lists do not have.
std::string results_csv(std::span<const Detection> detections,
                        std::span<const NamedPicture> pictures,
                        std::span<const NamedClass> classes);
// Columns by name, in any order. Throws Error, which names file and line.
std::vector<Detection> parse_results_csv(std::string_view text, const std::string& name,
                                         std::span<const NamedPicture> pictures,
                                         std::span<const NamedClass> classes);
std::vector<Detection> read_results_csv(const std::filesystem::path& path,
                                        std::span<const NamedPicture> pictures,
                                        std::span<const NamedClass> classes);

}  // namespace lockstep::fewshot
