// What kernels over boxes are given: plain pointers and sizes, for sources with and without torch.
#pragma once

#include "kernels/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// Most bins of RoIAlign's result along an axis.
constexpr std::int64_t roi_align_most_bins = 256;

// Boxes and what is taken of them. Everything on the device; features and results channels-last,
// aligned to 16 bytes.
struct RoiAlignShape {
  const float* boxes = nullptr;            // [rois, 4], aligned to 16 bytes
  const std::int64_t* pictures = nullptr;  // [rois]; one that is not below `rows` stops the device
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rois = 0, rows = 0, channels = 0;
  std::int64_t height = 0, width = 0;  // of the features
  int bins_y = 0, bins_x = 0;
  float scale = 1;   // cells per pixel
  int sampling = 0;  // points of a bin along an axis, or 0: by the box
  bool aligned = true;
};
struct RoiAlignForward {
  RoiAlignShape shape;
  const void* features = nullptr;  // [rows, height, width, channels]
  void* out = nullptr;             // [rois, bins_y, bins_x, channels]
};
struct RoiAlignBackward {
  RoiAlignShape shape;
  const void* of_out = nullptr;
  void* of_features = nullptr;  // all of it is written
};

// Most boxes of a set that the kernels serve, and most sets.
constexpr std::int64_t nms_most_boxes = 1 << 17, nms_most_sets = 65535;

// Sets of boxes, each in the order of `order`. Everything on the device.
struct NmsArguments {
  const float* boxes = nullptr;          // [sets, boxes_per_set, 4], aligned to 16 bytes
  const float* sorted_scores = nullptr;  // [sets, boxes_per_set], descending; −inf: takes no part
  const std::int64_t* order = nullptr;   // [sets, boxes_per_set]: of the sorted, its index
  const std::int64_t* group = nullptr;   // [sets, boxes_per_set] or null
  // [sets, boxes_per_set, words]: bit j % 64 of word j / 64 of i: sorted box j, behind i, overlaps
  // i.
  std::uint64_t* overlaps = nullptr;
  std::int64_t* indices = nullptr;  // [sets, at_most]
  std::int64_t* count = nullptr;    // [sets]
  std::int64_t sets = 0, boxes_per_set = 0, words = 0, at_most = 0;
  float threshold = 0;  // overlap: an IoU above it
};

// Labels that are no class, an overlap below which a box has no best anchor, and what areas that
// are divided by are at least.
constexpr std::int64_t match_no_box = -1, match_ignore_box = -2;
constexpr float match_least_overlap = 1e-3F, match_least_area = 1e-6F;
constexpr std::int64_t match_most_pictures = 65535, match_most_boxes = 65535;

// Anchors and true boxes. Everything on the device; boxes aligned to 16 bytes.
struct MatchArguments {
  const float *anchors = nullptr, *boxes = nullptr;  // [count, 4], [pictures, most, 4]
  const std::int64_t* labels = nullptr;              // [pictures, most]
  float* best_of_box = nullptr;                      // [pictures, most]; written
  std::uint8_t* states = nullptr;                    // [pictures, classes, count]; written
  std::int32_t* counts = nullptr;  // [pictures, classes, 2]: positives and negatives; 0 before
  bool* positive = nullptr;        // [pictures, classes, count]
  float *weight = nullptr, *box = nullptr;  // likewise; box: [..., 4]
  std::int64_t pictures = 0, classes = 0, count = 0, most = 0;
  float positive_overlap = 0, negative_overlap = 0, ignored_share = 0, drawn = 0, most_positive = 0;
};

}  // namespace lockstep
