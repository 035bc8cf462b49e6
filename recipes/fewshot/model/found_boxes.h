// Handles the tensors in which the detector returns boxes. Each row is a box, in pixels of a query
// (the scaled picture) or of the picture itself.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "recipes/fewshot/metrics/boxes.h"

namespace lockstep::fewshot {

// The columns of the rows that FewshotRecipe::detect and evaluate_items return. of_query: index of
// the query. of_label: label of the class in its episode. of_x, of_y: upper left corner.
enum Column : std::int64_t { of_query, of_label, of_x, of_y, of_width, of_height, of_score };
inline constexpr std::int64_t columns = 7;

// Converts a row, f64 [7] on the CPU, from pixels of a query to pixels of its picture, in place.
// The query has size x size pixels and shows the whole picture of width x height pixels.
void scale_to_picture(const at::Tensor& row, double width, double height, double size);

// Returns a row, f64 [7] on the CPU, as a Detection. picture, category: ids for the Detection.
Detection detection_of(const at::Tensor& row, std::int64_t picture, std::int64_t category);

}  // namespace lockstep::fewshot
