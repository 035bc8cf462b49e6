// Boxes that a detector found in queries: one per row, in pixels of a query or of its picture.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "recipes/fewshot/metrics/boxes.h"

namespace lockstep::fewshot {

// Columns of the results of FewshotRecipe::detect and evaluate_items.
enum Column : std::int64_t { of_query, of_label, of_x, of_y, of_width, of_height, of_score };
inline constexpr std::int64_t columns = 7;

// Converts a row, f64 [7] on the CPU, from pixels of a query to pixels of its picture. The query
// has size x size pixels. It was scaled from the picture, which has width x height pixels.
void scale_to_picture(const at::Tensor& row, double width, double height, double size);

// picture, category: ids.
Detection detection_of(const at::Tensor& row, std::int64_t picture, std::int64_t category);

}  // namespace lockstep::fewshot
