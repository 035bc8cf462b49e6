// Splits classes into base classes, on which a model is trained, and novel ones, which it first
// sees as supports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// Indexes into DetectionData::categories, ascending, none in both lists. A category in neither list
// is not used. Its boxes are neither objects nor background, like those of novel classes in base
// training.
struct ClassSplit {
  std::vector<int> base, novel;
  friend bool operator==(const ClassSplit&, const ClassSplit&) = default;
};

// The names in a list: "a,b,c", or "@FILE" with one per line. Spaces around a name are ignored. "":
// none. Throws Error for an empty or repeated name, and for an empty or unreadable file.
std::vector<std::string> class_names(const std::string& list);

// Splits by name. If one of the lists is empty, it gets all other classes that have a box. If both
// are empty, all classes are base. Throws Error for an unknown name (it suggests the nearest), a
// name in both lists, a class without a box that counts, and if there is no base class.
ClassSplit split_by_names(const DetectionData& data, const std::vector<std::string>& base,
                          const std::vector<std::string>& novel);

// Makes `novel_share` of the classes that have a box novel (0 < novel_share < 1; at least one novel
// and one base). They are drawn from the seed and the names alone. Throws Error if there are fewer
// than two classes.
ClassSplit split_by_share(const DetectionData& data, double novel_share, std::uint64_t seed);

}  // namespace lockstep::fewshot
