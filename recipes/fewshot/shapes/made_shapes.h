// The small data set for users who name no data: pictures of coloured shapes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/media/pictures/image.h"
#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

struct MadeShapes {
  std::uint64_t seed = 20'260'101;
  int pictures = 0;
  int first = 0;  // number of the first picture; a further set begins where this one ends
  int height = 128, width = 160;
};

// The classes, by id from 1: circle, square, triangle, star, cross, ring, crescent, arrow, heart,
// half-circle, frame, bolt. Four of them are intended as novel classes: star, ring, arrow, heart.
const std::vector<Category>& made_categories();
std::vector<std::string> made_novel_classes();

// The annotations of such a set: 1 to 4 shapes per picture, each of random class, colour, size and
// rotation (at most 45 degrees), entirely within the picture and hardly overlapping. Paths are
// made-00012.png without a folder.
DetectionData describe_shapes(const MadeShapes& set);
// The i-th picture of the set, RGB u8: a noisy background with a slope of brightness, lines and
// dots of no class, and the shapes. It is the same each time.
Image draw_shapes(const MadeShapes& set, int i);

inline constexpr int made_train_pictures = 240, made_valid_pictures = 60;
// Returns cache_dir/made-shapes: train.json, train/*.png, valid.json, valid/*.png, which
// find_detection_data reads. The jsons say that the set is generated. Makes it if it is absent; two
// processes may do this at once. say: called once when it begins. Throws Error.
std::filesystem::path made_shapes(const std::filesystem::path& cache_dir,
                                  const std::function<void(const std::string&)>& say);

}  // namespace lockstep::fewshot
