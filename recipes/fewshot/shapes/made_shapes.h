// Generates the small data set for users who name no data: pictures of coloured shapes.
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
  int first = 0;  // number of the first picture; a second set begins at first + pictures
  int height = 128, width = 160;
};

// The classes in the order of their ids, which count from 1: circle, square, triangle, star, cross,
// ring, crescent, arrow, heart, half-circle, frame, bolt. The novel classes are star, ring, arrow
// and heart.
const std::vector<Category>& made_categories();
std::vector<std::string> made_novel_classes();

// Returns the annotations of a set. Each picture has 1 to 4 shapes of random class, colour, size
// and rotation (at most 45 degrees). Shapes lie within the picture and hardly overlap.
// Picture::path is a name without a folder, such as made-00012.png.
DetectionData describe_shapes(const MadeShapes& set);
// Returns the i-th picture of the set, RGB u8. It shows the shapes on a noisy background with a
// gradient of brightness. It also shows lines and dots, which belong to no class. The result
// depends only on the arguments.
Image draw_shapes(const MadeShapes& set, int i);

inline constexpr int made_train_pictures = 240, made_valid_pictures = 60;
// Returns the folder cache_dir/made-shapes, in which find_detection_data finds the sets. The folder
// has train.json, train/*.png, valid.json and valid/*.png. Generates these files if they do not
// exist yet. Several processes may call made_shapes at once. The jsons say that the pictures are
// generated. say: called with a line before pictures are generated, or before it waits for another
// process that generates them. Throws Error if the files cannot be written.
std::filesystem::path made_shapes(const std::filesystem::path& cache_dir,
                                  const std::function<void(const std::string&)>& say);

}  // namespace lockstep::fewshot
