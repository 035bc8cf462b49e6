// Arguments of the CUDA kernels for boxes: plain pointers and sizes. This header does not include
// torch, so CUDA sources can include it. A member `of_x` is the gradient of x. All pointers are to
// device memory.
#pragma once

#include "ops/boxes/box_inline.h"
#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// The largest number of bins along an axis of RoIAlign's result.
constexpr std::int64_t roi_align_most_bins = 256;

// The boxes of RoIAlign, and the rule by which their features are sampled. Features and results are
// channels-last and aligned to 16 bytes.
struct RoiAlignShape {
  const float* boxes = nullptr;  // [rois, 4], aligned to 16 bytes
  // [rois]: the row of the features in which a box lies; negative for padding. An index of `rows`
  // or more fails a device-side assertion.
  const std::int64_t* pictures = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rois = 0, rows = 0, channels = 0;
  std::int64_t height = 0, width = 0;  // size of the feature map
  int bins_y = 0, bins_x = 0;
  float scale = 1;   // cells of the feature map per pixel
  int sampling = 0;  // points of a bin along each axis; 0: depends on the box
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
  void* of_features = nullptr;  // every element is written
};

// The largest number of boxes in a set, and the largest number of sets, in non-maximum suppression.
constexpr std::int64_t nms_most_boxes = 1 << 17, nms_most_sets = 65535;

// Sets of boxes for non-maximum suppression. In each set, boxes are processed in the order of
// `order`.
struct NmsArguments {
  const float* boxes = nullptr;  // [sets, boxes_per_set, 4], aligned to 16 bytes
  // [sets, boxes_per_set], in descending order. Boxes whose score is −inf are ignored.
  const float* sorted_scores = nullptr;
  // [sets, boxes_per_set]: the indices of the boxes, sorted by score. The pointer is null if boxes
  // are already sorted.
  const std::int64_t* order = nullptr;
  const std::int64_t* group = nullptr;  // [sets, boxes_per_set]; null: one group
  // [sets, boxes_per_set, words]: bit j % 64 of word j / 64 of box i says whether the boxes i and j
  // overlap. i and j are positions in sorted order, and j is larger.
  std::uint64_t* overlaps = nullptr;
  std::int64_t* indices = nullptr;  // [sets, at_most]
  std::int64_t* count = nullptr;    // [sets]
  std::int64_t sets = 0, boxes_per_set = 0, words = 0, at_most = 0;
  float threshold = 0;  // boxes with an IoU above it overlap
};

// match_no_box and match_ignore_box are labels of boxes without a class. A box has no best anchor
// if its IoU with each anchor is at most match_least_overlap. match_least_area is the smallest area
// that is used as a divisor.
constexpr std::int64_t match_no_box = -1, match_ignore_box = -2;
constexpr float match_least_overlap = 1e-3F, match_least_area = 1e-6F;
constexpr std::int64_t match_most_pictures = 65535, match_most_boxes = 65535;

// Matches anchors with true boxes. `count` is the number of anchors. `most` is the number of boxes
// per picture, including padding. Anchors and boxes are aligned to 16 bytes.
struct MatchArguments {
  const float *anchors = nullptr, *boxes = nullptr;  // [count, 4], [pictures, most, 4]
  const std::int64_t* labels = nullptr;              // [pictures, most]
  float* best_of_box = nullptr;                      // [pictures, most]; working memory
  std::uint8_t* states = nullptr;                    // [pictures, classes, count]; working memory
  // [pictures, classes, 2]: the numbers of positives and negatives. They must be 0 before the
  // launch.
  std::int32_t* counts = nullptr;
  bool* positive = nullptr;                 // [pictures, classes, count]
  float *weight = nullptr, *box = nullptr;  // shapes: weight as `positive`, box [..., 4]
  std::int64_t pictures = 0, classes = 0, count = 0, most = 0;
  float positive_overlap = 0, negative_overlap = 0, ignored_share = 0, drawn = 0, most_positive = 0;
};

// Matches regions with true boxes of any class. `count` is the number of regions per picture.
// `most` is the number of boxes per picture, including padding. Regions and boxes are aligned to 16
// bytes.
struct RegionMatchArguments {
  const float *regions = nullptr, *boxes = nullptr;  // [pictures, count, 4], [pictures, most, 4]
  const std::int64_t* labels = nullptr;              // [pictures, most]
  const bool* known = nullptr;                       // [pictures, count]
  bool* positive = nullptr;                          // [pictures, count]
  float *weight = nullptr, *box = nullptr;           // shapes: weight as `positive`, box [..., 4]
  std::int64_t* label = nullptr;                     // [pictures, count]
  std::int64_t pictures = 0, classes = 0, count = 0, most = 0;
  float positive_overlap = 0, ignored_share = 0, drawn = 0, most_positive = 0;
};

// Describes a tensor that is read in runs of `length` adjacent elements. `step` is the distance in
// elements from the beginning of a run to the beginning of the next run.
struct Runs {
  std::uint32_t length = 1, step = 1;
};

// The rows of a detector and their targets. logits and deltas have fewer than 2^31 elements each.
struct DetectionLossArguments {
  // logits is [rows] or [rows, columns], and deltas is [rows, 4].
  const void *logits = nullptr, *deltas = nullptr;
  KernelDtype logits_dtype = KernelDtype::f32, deltas_dtype = KernelDtype::f32;
  Runs logits_runs, deltas_runs;  // deltas_runs.length is a multiple of four
  // [rows]: labels for the cross-entropy of the softmax over `columns` logits. The pointer is null
  // if each row has one logit, for the binary cross-entropy.
  const std::int64_t* label = nullptr;
  const bool* positive = nullptr;               // [rows]
  const float* weight = nullptr;                // [rows]
  const float* picture_weight = nullptr;        // [rows / rows_per_picture]; null if all are 1
  const float *box = nullptr, *from = nullptr;  // [rows, 4], [from_rows, 4]; aligned to 16 bytes
  std::uint32_t rows = 0, columns = 1, rows_per_picture = 1, from_rows = 1, blocks = 1;
  InlineCoding coding;
  float beta = 1, class_factor = 1, box_factor = 1;
};
constexpr std::int64_t detection_loss_chunk = 512;  // rows for each thread block
// The largest number of columns. One thread loops over all columns of a row.
constexpr std::int64_t detection_loss_most_columns = 1024;
struct DetectionLossForward {
  DetectionLossArguments rows;
  float* partial = nullptr;                          // [blocks, 2]; null if blocks is 1
  float *of_classes = nullptr, *of_boxes = nullptr;  // the two weighted sums; results
};
struct DetectionLossBackward {
  DetectionLossArguments rows;
  // The gradients of the two sums. A null pointer stands for a gradient of 0.
  const float *of_classes = nullptr, *of_boxes = nullptr;
  // Dense, in the dtypes of logits and deltas. Either may be null.
  void *of_logits = nullptr, *of_deltas = nullptr;
};

// Decodes the boxes of chosen rows. Anchors and boxes are aligned to 16 bytes.
struct DecodeChosen {
  const void* deltas = nullptr;  // [sets, rows, 4]
  KernelDtype dtype = KernelDtype::f32;
  Runs runs;                       // runs.length is a multiple of four
  const float* anchors = nullptr;  // [anchor_count, 4]; row r has anchor r % anchor_count
  // [sets, count]: row numbers. A number outside of [0, rows) fails a device-side assertion.
  const std::int64_t* chosen = nullptr;
  float* boxes = nullptr;  // [sets, count, 4]
  std::int64_t sets = 0, rows = 0, anchor_count = 1, count = 0;
  InlineCoding coding;
  float height = 0, width = 0;
};
struct GatherBoxes {
  const float* boxes = nullptr;  // [sets, count, 4]
  // [sets, kept]: indices of boxes, each below `count`. A negative index means that there is no
  // box.
  const std::int64_t* index = nullptr;
  float* out = nullptr;   // [sets, kept, 4]
  bool* known = nullptr;  // [sets, kept]: whether there is a box
  std::int64_t sets = 0, count = 0, kept = 0;
};

struct FlipBoxes {
  const float* boxes = nullptr;    // [pictures, count, 4]
  const float* numbers = nullptr;  // picture p is flipped if numbers[p × step] is below 1/2
  std::int64_t step = 1;
  float* out = nullptr;  // [pictures, count, 4]
  std::int64_t pictures = 0, count = 0;
  float width = 0;
};

// Finds the largest numbers of each row and their indices, in descending order. Among equal
// numbers, the one with the smallest index comes first.
struct TopRowsArguments {
  const void* x = nullptr;  // [rows, length]
  KernelDtype dtype = KernelDtype::f32;
  Runs runs;
  float* values = nullptr;        // [rows, count]
  std::int64_t* index = nullptr;  // [rows, count]: indices in the row
  std::int64_t rows = 0, length = 0, count = 0;
};
// The largest supported length of a row, and the largest supported count.
constexpr std::int64_t top_rows_most_length = 32768, top_rows_most_count = 1024;

// Scales dense rows [rows, width] to the same length (norm).
struct UnitRows {
  const void* x = nullptr;
  void* y = nullptr;           // forward: x / max(norm, least) × length
  float* norm = nullptr;       // [rows]: result of forward, input of backward
  const void* of_y = nullptr;  // only for backward
  void* of_x = nullptr;        // only for backward
  KernelDtype x_dtype = KernelDtype::f32, y_dtype = KernelDtype::f32;
  std::int64_t rows = 0, width = 0;
  float least = 0, length = 1;
};

}  // namespace lockstep
