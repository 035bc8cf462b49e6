// The boxes of a detector's best rows, each in one pass: decoded where an index says, those that
// suppression kept, and true ones of flipped pictures.
#pragma once

#include "ops/boxes/boxes.h"
#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// deltas, floating, [Q, ...] with [R, 4] elements of each picture in order, also as some channels
// of a channels-last map; anchors f32 [P, 4], of row r: r % P; chosen i64 [Q, K]: rows, 0 to R − 1.
// The chosen ones by decode_boxes and clip_boxes, f32 [Q, K, 4] (f64 for deltas of f64). No
// gradient. Throws Error for other shapes and types; on GPUs a row that is not there stops the
// device.
at::Tensor decode_chosen(const at::Tensor& deltas, const at::Tensor& anchors,
                         const at::Tensor& chosen, double height, double width,
                         const BoxCoding& coding = {});

// boxes f32 [Q, K, 4], index i64 [Q, count]: 0 to K − 1, or negative: none, as nms_padded gives it.
// No gradient. Throws Error for other shapes and types; on GPUs an index of K or more stops the
// device.
struct IndexedBoxes {
  at::Tensor boxes;  // f32 [Q, count, 4]; 0 where there is none
  at::Tensor known;  // bool [Q, count]: where there is one
};
IndexedBoxes boxes_at(const at::Tensor& boxes, const at::Tensor& index);

// boxes f32 [B, ..., 4] of pictures `width` wide, numbers f32 [B]: the boxes of the picture flipped
// left to right where its number is below 1/2, as PictureInput::flip does. No gradient. Throws
// Error for other shapes and types, and for tensors on two devices.
at::Tensor flip_boxes(const at::Tensor& boxes, const at::Tensor& numbers, double width);

struct ChosenBoxesKernels {
  void (*decode)(const DecodeChosen&) = nullptr;  // on the current stream
  void (*gather)(const GatherBoxes&) = nullptr;
  void (*flip)(const FlipBoxes&) = nullptr;
};
void register_cuda_chosen_boxes(ChosenBoxesKernels kernels);

}  // namespace lockstep
