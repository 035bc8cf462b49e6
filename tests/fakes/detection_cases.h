// Regions and sets of boxes, and what torchvision made of them
// (tests/unit/ops/detection/make.py), for the tests on the CPU and on GPUs.
#pragma once

#include "checkout_paths.h"
#include "ops/nms/nms.h"
#include "ops/roi_align/roi_align.h"
#include "training/checkpoint/tensor_file.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace lockstep::testing {

inline std::map<std::string, at::Tensor> recorded_detection(const std::string& name) {
  return map_tensors(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/unit/ops/detection" /
                     (name + ".safetensors"));
}

// A gradient that differs from place to place.
inline at::Tensor gradient_for(const at::Tensor& y) {
  return at::arange(y.numel(), at::TensorOptions().device(y.device()).dtype(at::kDouble))
      .mul(0.7)
      .sin()
      .view(y.sizes())
      .to(y.scalar_type());
}

struct RoiCase {
  std::string name;
  at::Tensor features, boxes, pictures;
  RoiAlignOptions options;
  at::Tensor out, of_features;  // what torchvision gives; undefined where it was not asked
};

inline std::vector<RoiCase> recorded_roi_cases() {
  const auto recorded = recorded_detection("roi_align");
  std::vector<RoiCase> cases;
  for (int number = 0;; ++number) {
    const std::string name = std::to_string(number);
    if (!recorded.contains(name + ".options")) return cases;
    const double* const o = recorded.at(name + ".options").const_data_ptr<double>();
    cases.push_back({.name = name,
                     .features = recorded.at("features"),
                     .boxes = recorded.at("boxes"),
                     .pictures = recorded.at("pictures"),
                     .options = {.height = static_cast<std::int64_t>(o[0]),
                                 .width = static_cast<std::int64_t>(o[1]),
                                 .spatial_scale = o[2],
                                 .sampling_ratio = static_cast<std::int64_t>(o[3]),
                                 .aligned = o[4] != 0},
                     .out = recorded.at(name + ".out"),
                     .of_features = recorded.at(name + ".of_features")});
  }
}

// Boxes about a square of this extent, of all sizes.
inline at::Tensor drawn_boxes(std::int64_t count, double extent) {
  const at::Tensor centre = at::rand({count, 2}) * extent,
                   half = at::rand({count, 2}).square() * (extent / 2);
  return at::cat({centre - half, centre + half}, 1);
}

// Boxes that are no boxes, each of which must neither be read beyond memory nor last long.
inline at::Tensor odd_boxes() {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> corners{nan,       0,      9,        9,         //
                                   0,         0,      nan,      9,         //
                                   nan,       nan,    nan,      nan,       //
                                   0,         0,      9,        infinity,  //
                                   -infinity, 0,      infinity, 9,         //
                                   -3e38F,    -3e38F, 3e38F,    3e38F,     //
                                   -1e12F,    0,      1e12F,    40,        //
                                   1e9F,      1e9F,   -1e9F,    -1e9F,     //
                                   5,         5,      5,        5,         //
                                   1e-40F,    0,      2e-40F,   1};
  return at::tensor(corners).view({-1, 4});
}

// Channels by eights, more than a block has, and others; padding among the boxes, pictures without
// any, a map of one cell.
inline std::vector<RoiCase> drawn_roi_cases() {
  const auto one = [](const std::string& name, std::vector<std::int64_t> sizes, std::int64_t count,
                      const RoiAlignOptions& options) {
    const double extent = static_cast<double>(sizes[3]) / options.spatial_scale;
    RoiCase drawn{.name = name,
                  .features = at::randn(sizes),
                  .boxes = drawn_boxes(count, extent),
                  .pictures = at::randint(-1, sizes[0], {count}, at::kLong),
                  .options = options};
    return drawn;
  };
  return {one("of 16 channels", {3, 16, 9, 11}, 40, {.spatial_scale = 1.0 / 16}),
          one("of 1 channel", {2, 1, 6, 5}, 9, {.spatial_scale = 1.0 / 8, .sampling_ratio = 0}),
          one("of 5 channels", {2, 5, 7, 5}, 300, {.height = 3, .width = 2, .spatial_scale = 0.5}),
          one("of 2,184 channels", {1, 2184, 3, 4}, 20, {.height = 2, .width = 2}),
          one("of a cell", {2, 8, 1, 1}, 12, {.spatial_scale = 1.0 / 16, .aligned = false}),
          one("of many bins", {1, 8, 12, 12}, 7, {.height = 150, .width = 200}),
          one("of no box", {2, 8, 4, 4}, 0, {}),
          one("of no picture", {0, 8, 4, 4}, 0, {}),
          one("of pictures without boxes", {40, 8, 3, 3}, 3, {})};
}

// The result, then the gradient of features, where that of the result is rounded to a type.
inline std::vector<at::Tensor> aligned_with_gradient(const RoiCase& test,
                                                     const at::Tensor& features,
                                                     at::ScalarType rounded) {
  const at::Tensor leaf = features.detach().requires_grad_();
  const at::Device device = features.device();
  const at::Tensor out =
      roi_align(leaf, test.boxes.to(device), test.pictures.to(device), test.options);
  const at::Tensor gradient = gradient_for(out).to(rounded).to(out.scalar_type());
  return {out.detach(), torch::autograd::grad({out}, {leaf}, {gradient})[0]};
}

inline std::vector<at::Tensor> aligned_with_gradient(const RoiCase& test,
                                                     const at::Tensor& features) {
  return aligned_with_gradient(test, features, features.scalar_type());
}

struct NmsCase {
  std::string name;
  at::Tensor boxes, scores, group;  // group may be undefined
  double threshold = 0;
  at::Tensor kept;  // what torchvision gives
};

inline std::vector<NmsCase> recorded_nms_cases() {
  const auto recorded = recorded_detection("nms");
  std::vector<NmsCase> cases;
  for (const auto& [key, boxes] : recorded) {
    if (!key.ends_with(".boxes")) continue;
    const std::string name = key.substr(0, key.size() - 6);
    const auto group = recorded.find(name + ".groups");
    cases.push_back({.name = name,
                     .boxes = boxes,
                     .scores = recorded.at(name + ".scores"),
                     .group = group == recorded.end() ? at::Tensor() : group->second,
                     .threshold = *recorded.at(name + ".threshold").const_data_ptr<double>(),
                     .kept = recorded.at(name + ".kept")});
  }
  return cases;
}

}  // namespace lockstep::testing
