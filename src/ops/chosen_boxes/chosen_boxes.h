// Operations on the boxes of a detector, each in one pass: decoding of chosen rows, selection of
// the boxes that suppression kept, and flipping of true boxes.
#pragma once

#include "ops/boxes/boxes.h"
#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// deltas: floating, [Q, ...] with [R, 4] elements of each picture in order. They may be some
// channels of a channels-last map. anchors: f32 [P, 4]; row r has anchor r % P. chosen: i64 [Q, K],
// rows from 0 to R − 1. Applies decode_boxes and clip_boxes to the chosen rows, and returns f32 [Q,
// K, 4] (f64 for deltas of f64). No gradient. Throws Error for other shapes and types. On GPUs a
// row that does not exist stops the device.
at::Tensor decode_chosen(const at::Tensor& deltas, const at::Tensor& anchors,
                         const at::Tensor& chosen, double height, double width,
                         const BoxCoding& coding = {});

// boxes: f32 [Q, K, 4]. index: i64 [Q, count], from 0 to K − 1, or negative for none, as nms_padded
// returns it. No gradient. Throws Error for other shapes and types. On GPUs an index of K or more
// stops the device.
struct IndexedBoxes {
  at::Tensor boxes;  // f32 [Q, count, 4]; 0 where there is no box
  at::Tensor known;  // bool [Q, count]: where there is a box
};
IndexedBoxes boxes_at(const at::Tensor& boxes, const at::Tensor& index);

// boxes: f32 [B, ..., 4] of pictures that are `width` wide. numbers: f32 [B]. Flips the boxes of a
// picture left to right if its number is below 1/2, as PictureInput::flip does. No gradient. Throws
// Error for other shapes and types, and for tensors on two devices.
at::Tensor flip_boxes(const at::Tensor& boxes, const at::Tensor& numbers, double width);

struct ChosenBoxesKernels {
  void (*decode)(const DecodeChosen&) = nullptr;  // runs on the current stream
  void (*gather)(const GatherBoxes&) = nullptr;
  void (*flip)(const FlipBoxes&) = nullptr;
};
void register_cuda_chosen_boxes(ChosenBoxesKernels kernels);

}  // namespace lockstep
