// Base classes, which a model is trained on, and novel ones, which it first sees as supports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// Indexes into DetectionData::categories, ascending, none in both. A category in neither is not
// used. Its boxes are neither objects nor background, like those of novel classes in base training.
struct ClassSplit {
  std::vector<int> base, novel;
  friend bool operator==(const ClassSplit&, const ClassSplit&) = default;
};

// The names of a list: "a,b,c", or "@FILE" with one a line. Spaces around a name count for nothing.
// "": none. Throws Error: an empty name, a name twice, an empty or unreadable file.
std::vector<std::string> class_names(const std::string& list);

// Classes by name. If one of the lists is empty, it gets all other classes that have a box. If both
// are empty, all classes are base. Throws Error: an unknown name (the nearest is given), a name in
// both lists, a class without a box that counts, no base class.
ClassSplit split_by_names(const DetectionData& data, const std::vector<std::string>& base,
                          const std::vector<std::string>& novel);

// `novel_share` of the classes that have a box (0 < novel_share < 1; at least one novel and one
// base) are novel, drawn from the seed and the names alone. Throws Error for fewer than two.
ClassSplit split_by_share(const DetectionData& data, double novel_share, std::uint64_t seed);

}  // namespace lockstep::fewshot
