// Operations on the boxes of a detector, each in one pass. They decode chosen rows, gather the
// boxes that non-maximum suppression kept, and flip true boxes.
#pragma once

#include "ops/boxes/boxes.h"
#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Applies decode_boxes and clip_boxes (boxes.h) to the chosen rows of Q pictures, which have size
// height × width. Returns f32 [Q, K, 4] (f64 for deltas of f64), without gradient.
//   deltas    floating [Q, ...], with R × 4 elements per picture, in the order of [R, 4]
//   anchors   f32 [P, 4]; row r has anchor r % P
//   chosen    i64 [Q, K], rows from 0 to R − 1
// The deltas may be some channels of a channels-last feature map, which is read in place. Throws
// Error for other shapes and dtypes. An element of `chosen` outside of [0, R) fails a device-side
// assertion on GPUs.
at::Tensor decode_chosen(const at::Tensor& deltas, const at::Tensor& anchors,
                         const at::Tensor& chosen, double height, double width,
                         const BoxCoding& coding = {});

// Gathers the boxes at `index` without gradient.
//   boxes   f32 [Q, K, 4]
//   index   i64 [Q, count], from 0 to K − 1, or negative for no box, as nms_padded returns it
// Throws Error for other shapes and dtypes. An index of K or more fails a device-side assertion on
// GPUs.
struct IndexedBoxes {
  at::Tensor boxes;  // f32 [Q, count, 4]; 0 where there is no box
  at::Tensor known;  // bool [Q, count]: whether there is a box
};
IndexedBoxes boxes_at(const at::Tensor& boxes, const at::Tensor& index);

// Flips the boxes of a picture from left to right if the picture's number is below 1/2, as
// PictureInput::flip does. The result has no gradient.
//   boxes     f32 [B, ..., 4], in pictures whose width is `width`
//   numbers   f32 [B]
// Throws Error for other shapes and dtypes, and for tensors on two devices.
at::Tensor flip_boxes(const at::Tensor& boxes, const at::Tensor& numbers, double width);

struct ChosenBoxesKernels {
  void (*decode)(const DecodeChosen&) = nullptr;  // runs on the current stream
  void (*gather)(const GatherBoxes&) = nullptr;
  void (*flip)(const FlipBoxes&) = nullptr;
};
void register_cuda_chosen_boxes(ChosenBoxesKernels kernels);

}  // namespace lockstep
