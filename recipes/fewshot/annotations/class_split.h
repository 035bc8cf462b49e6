// Splits the classes of a data set into base classes and novel classes. By default, training uses
// only base classes. A trained model then first sees novel classes in a support set, as labelled
// examples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// base, novel: indexes into DetectionData::categories, in ascending order. No index is in both
// lists. A category in neither list is not used, and its boxes are neither objects nor background.
// If training uses only base classes, boxes of novel classes are also neither objects nor
// background in training.
struct ClassSplit {
  std::vector<int> base, novel;
  friend bool operator==(const ClassSplit&, const ClassSplit&) = default;
};

// Returns the names in `list`, which is "a,b,c", or "@FILE" for a file with one name per line. If
// `list` is empty, the result is empty. Spaces around a name and empty lines of a file are ignored.
// Throws Error for an empty name between commas, and for a repeated name. Also throws Error if the
// file cannot be read or has no names.
std::vector<std::string> class_names(const std::string& list);

// Splits classes by name. Only classes with a box that counts (Box::counts) are used. If both lists
// are empty, all these classes are base. If only one list is empty, it gets all these classes that
// are not in the other list. Throws Error for an unknown name; the hint has the most similar name.
// Also throws Error for a name that is repeated or in both lists. Also throws Error if a named
// class has no box that counts, or if no class is base.
ClassSplit split_by_names(const DetectionData& data, const std::vector<std::string>& base,
                          const std::vector<std::string>& novel);

// Splits classes at random. Only classes with a box that counts are used. The share `novel_share`
// of them is novel, with 0 < novel_share < 1. At least one class is novel, and at least one is
// base. The order in which classes are drawn depends only on the seed and the classes' names.
// Throws Error if fewer than two classes have a box that counts.
ClassSplit split_by_share(const DetectionData& data, double novel_share, std::uint64_t seed);

}  // namespace lockstep::fewshot
