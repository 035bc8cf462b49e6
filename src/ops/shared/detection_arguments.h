// Arguments of kernels over boxes: plain pointers and sizes, for sources with and without torch.
#pragma once

#include "ops/boxes/box_inline.h"
#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// The largest number of bins of RoIAlign's result along an axis.
constexpr std::int64_t roi_align_most_bins = 256;

// Boxes, and how their features are taken. Everything is on the device. Features and results are
// channels-last and aligned to 16 bytes.
struct RoiAlignShape {
  const float* boxes = nullptr;            // [rois, 4], aligned to 16 bytes
  const std::int64_t* pictures = nullptr;  // [rois]; one that is not below `rows` stops the device
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rois = 0, rows = 0, channels = 0;
  std::int64_t height = 0, width = 0;  // size of the features
  int bins_y = 0, bins_x = 0;
  float scale = 1;   // cells per pixel
  int sampling = 0;  // points of a bin along an axis; 0: depends on the box
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

// The largest number of boxes of a set that the kernels support, and of sets.
constexpr std::int64_t nms_most_boxes = 1 << 17, nms_most_sets = 65535;

// Sets of boxes, each in the order of `order`. Everything is on the device.
struct NmsArguments {
  const float* boxes = nullptr;          // [sets, boxes_per_set, 4], aligned to 16 bytes
  const float* sorted_scores = nullptr;  // [sets, boxes_per_set], descending; −inf: takes no part
  // [sets, boxes_per_set]: the index of each sorted box. Null: boxes are already sorted.
  const std::int64_t* order = nullptr;
  const std::int64_t* group = nullptr;  // [sets, boxes_per_set] or null
  // [sets, boxes_per_set, words]: bit j % 64 of word j / 64 of box i is set if the sorted box j,
  // which comes after i, overlaps i.
  std::uint64_t* overlaps = nullptr;
  std::int64_t* indices = nullptr;  // [sets, at_most]
  std::int64_t* count = nullptr;    // [sets]
  std::int64_t sets = 0, boxes_per_set = 0, words = 0, at_most = 0;
  float threshold = 0;  // overlap: an IoU above it
};

// Labels that are no class, the overlap below which a box has no best anchor, and the smallest area
// that is used as a divisor.
constexpr std::int64_t match_no_box = -1, match_ignore_box = -2;
constexpr float match_least_overlap = 1e-3F, match_least_area = 1e-6F;
constexpr std::int64_t match_most_pictures = 65535, match_most_boxes = 65535;

// Anchors and true boxes. Everything is on the device. Boxes are aligned to 16 bytes.
struct MatchArguments {
  const float *anchors = nullptr, *boxes = nullptr;  // [count, 4], [pictures, most, 4]
  const std::int64_t* labels = nullptr;              // [pictures, most]
  float* best_of_box = nullptr;                      // [pictures, most]; written
  std::uint8_t* states = nullptr;                    // [pictures, classes, count]; written
  // [pictures, classes, 2]: positives and negatives; must begin as 0
  std::int32_t* counts = nullptr;
  bool* positive = nullptr;                 // [pictures, classes, count]
  float *weight = nullptr, *box = nullptr;  // as `positive`; box: [..., 4]
  std::int64_t pictures = 0, classes = 0, count = 0, most = 0;
  float positive_overlap = 0, negative_overlap = 0, ignored_share = 0, drawn = 0, most_positive = 0;
};

// Regions of any class, and true boxes. Everything is on the device. Boxes are aligned to 16 bytes.
struct RegionMatchArguments {
  const float *regions = nullptr, *boxes = nullptr;  // [pictures, count, 4], [pictures, most, 4]
  const std::int64_t* labels = nullptr;              // [pictures, most]
  const bool* known = nullptr;                       // [pictures, count]
  bool* positive = nullptr;                          // [pictures, count]
  float *weight = nullptr, *box = nullptr;           // as `positive`; box: [..., 4]
  std::int64_t* label = nullptr;                     // [pictures, count]
  std::int64_t pictures = 0, classes = 0, count = 0, most = 0;
  float positive_overlap = 0, ignored_share = 0, drawn = 0, most_positive = 0;
};

// Elements in runs of `length` neighbours. Each run begins `step` elements after the one before.
struct Runs {
  std::uint32_t length = 1, step = 1;
};

// Rows of a detector, below 2^31 elements, and their targets. Everything is on the device.
struct DetectionLossArguments {
  const void *logits = nullptr, *deltas = nullptr;  // [rows] or [rows, columns]; [rows, 4]
  KernelDtype logits_dtype = KernelDtype::f32, deltas_dtype = KernelDtype::f32;
  Runs logits_runs, deltas_runs;          // deltas: length is a multiple of four
  const std::int64_t* label = nullptr;    // [rows]: softmax over `columns`; null: sigmoid of one
  const bool* positive = nullptr;         // [rows]
  const float* weight = nullptr;          // [rows]
  const float* picture_weight = nullptr;  // [rows / rows_per_picture], or null: 1
  const float *box = nullptr, *from = nullptr;  // [rows, 4], [from_rows, 4]; aligned to 16 bytes
  std::uint32_t rows = 0, columns = 1, rows_per_picture = 1, from_rows = 1, blocks = 1;
  InlineCoding coding;
  float beta = 1, class_factor = 1, box_factor = 1;
};
constexpr std::int64_t detection_loss_chunk = 512;          // rows of a block
constexpr std::int64_t detection_loss_most_columns = 1024;  // one thread loops over them
struct DetectionLossForward {
  DetectionLossArguments rows;
  float* partial = nullptr;                          // [blocks, 2], with more than one block
  float *of_classes = nullptr, *of_boxes = nullptr;  // the two sums
};
struct DetectionLossBackward {
  DetectionLossArguments rows;
  const float *of_classes = nullptr, *of_boxes = nullptr;  // gradients of the sums; null: 0
  void *of_logits = nullptr, *of_deltas = nullptr;         // dense, of the inputs' types; or null
};

// Boxes of chosen rows. Everything is on the device. Boxes are aligned to 16 bytes.
struct DecodeChosen {
  const void* deltas = nullptr;  // [sets, rows, 4]
  KernelDtype dtype = KernelDtype::f32;
  Runs runs;                       // their length is a multiple of four
  const float* anchors = nullptr;  // [anchor_count, 4]; of row r: r % anchor_count
  // [sets, count]: row numbers; one that does not exist stops the device
  const std::int64_t* chosen = nullptr;
  float* boxes = nullptr;  // [sets, count, 4]
  std::int64_t sets = 0, rows = 0, anchor_count = 1, count = 0;
  InlineCoding coding;
  float height = 0, width = 0;
};
struct GatherBoxes {
  const float* boxes = nullptr;         // [sets, count, 4]
  const std::int64_t* index = nullptr;  // [sets, kept]: below count; negative: none
  float* out = nullptr;                 // [sets, kept, 4]
  bool* known = nullptr;                // [sets, kept]
  std::int64_t sets = 0, count = 0, kept = 0;
};

struct FlipBoxes {
  const float* boxes = nullptr;    // [pictures, count, 4]
  const float* numbers = nullptr;  // picture p has numbers[p × step], and is flipped if it is below
                                   // 1/2
  std::int64_t step = 1;
  float* out = nullptr;  // [pictures, count, 4]
  std::int64_t pictures = 0, count = 0;
  float width = 0;
};

// The largest numbers of each row and their places, descending. Among equal numbers the first is
// preferred. Everything is on the device.
struct TopRowsArguments {
  const void* x = nullptr;  // [rows, length]
  KernelDtype dtype = KernelDtype::f32;
  Runs runs;
  float* values = nullptr;        // [rows, count]
  std::int64_t* index = nullptr;  // [rows, count]: places in the row, below length
  std::int64_t rows = 0, length = 0, count = 0;
};
// The largest supported length of a row, and the largest count.
constexpr std::int64_t top_rows_most_length = 32768, top_rows_most_count = 1024;

// Dense rows [rows, width]. Everything is on the device.
struct UnitRows {
  const void* x = nullptr;
  void* y = nullptr;           // forward: x / max(norm, least) × length
  float* norm = nullptr;       // [rows]; forward writes it
  const void* of_y = nullptr;  // backward only
  void* of_x = nullptr;        // backward only
  KernelDtype x_dtype = KernelDtype::f32, y_dtype = KernelDtype::f32;
  std::int64_t rows = 0, width = 0;
  float least = 0, length = 1;
};

}  // namespace lockstep
