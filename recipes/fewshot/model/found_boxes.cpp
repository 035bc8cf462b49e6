#include "recipes/fewshot/model/found_boxes.h"

namespace lockstep::fewshot {

void scale_to_picture(const at::Tensor& row, double width, double height, double size) {
  const double wide = width / size, high = height / size;
  auto numbers = row.accessor<double, 1>();
  numbers[of_x] *= wide;
  numbers[of_width] *= wide;
  numbers[of_y] *= high;
  numbers[of_height] *= high;
}

Detection detection_of(const at::Tensor& row, std::int64_t picture, std::int64_t category) {
  const auto numbers = row.accessor<double, 1>();
  return {.picture = picture,
          .category = category,
          .x = numbers[of_x],
          .y = numbers[of_y],
          .width = numbers[of_width],
          .height = numbers[of_height],
          .score = numbers[of_score]};
}

}  // namespace lockstep::fewshot
