// Splits the classes of a set into base classes and novel classes. By default, training uses only
// base classes. A model then first sees novel classes in a support set, as labelled examples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// Each list holds indexes into DetectionData::categories, in ascending order. No index is in both
// lists. A category in neither list is not used, and its boxes are neither objects nor background.
// If training uses only base classes, this also holds for the boxes of novel classes.
struct ClassSplit {
  std::vector<int> base, novel;
  friend bool operator==(const ClassSplit&, const ClassSplit&) = default;
};

// Returns the names in a list: "a,b,c", or "@FILE" for a file with one name per line. An empty list
// has no names. Spaces around a name and empty lines of a file are ignored. Throws Error for an
// empty name between commas, and for a repeated name. Also throws if a file cannot be read or has
// no names.
std::vector<std::string> class_names(const std::string& list);

// Splits by name. Only classes with a box that counts (Box::counts) are used. If both lists are
// empty, all classes are base. If only one list is empty, it gets all classes that are not in the
// other. Throws Error for an unknown name; the hint has the most similar name. Also throws for a
// name that is repeated or in both lists, and for a class without such a box. Also throws if no
// class is base.
ClassSplit split_by_names(const DetectionData& data, const std::vector<std::string>& base,
                          const std::vector<std::string>& novel);

// Splits classes at random. Only classes with a box that counts are used. The share `novel_share`
// of them is novel, with 0 < novel_share < 1. At least one class is novel, and at least one is
// base. The order in which classes are drawn depends only on the seed and the classes' names.
// Throws Error if there are fewer than two such classes.
ClassSplit split_by_share(const DetectionData& data, double novel_share, std::uint64_t seed);

}  // namespace lockstep::fewshot
