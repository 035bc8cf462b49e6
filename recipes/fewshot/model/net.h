// The detector network. regions.h chooses its regions and targets, and loss.h computes its loss.
// Shapes use these letters: Q queries, N classes, K supports per class, R regions, A anchors per
// cell, C channels (DetectorShape::neck), E elements of a vector (DetectorShape::embedding).
#pragma once

#include "recipes/fewshot/model/trunk.h"
#include "recipes/fewshot/options/fewshot_options.h"

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>

namespace lockstep::fewshot {

inline constexpr std::int64_t stride = 16;  // pixels per cell of a feature map
// RoIAlign divides a region into this many cells along each axis.
inline constexpr std::int64_t pooled_size = 7;

// The classes of an episode as the network represents them. They are computed from the support set.
struct ClassCodes {
  at::Tensor kernels;     // [N, C]: kernels of Attention-RPN (see DetectorImpl)
  at::Tensor prototypes;  // f32 [N, E]; each has length 1
};

// Objectness and box deltas for each class and anchor, in the order of Anchors (regions.h). Both
// tensors have the weights' dtype, and may be views.
struct AnchorOutputs {
  at::Tensor objectness;  // [Q, N, h * w, A] logits
  at::Tensor deltas;      // [Q, N, h * w, A, 4]
};

struct RegionOutputs {
  at::Tensor logits;  // f32 [R, N + 1]; the last column is background
  at::Tensor deltas;  // [R, 4] in the weights' dtype; shared by all classes
};

// The detector has these parts:
//   - A trunk (trunk.h), and a 1x1 convolution to `neck` channels.
//   - Attention-RPN (Fan et al., arXiv:1908.01998). For each class, it applies the mean of the
//     class's support features to the query's feature map, as a depth-wise 1x1 kernel. A region
//     proposal network then runs on the result.
//   - A head over RoIAligned regions. Two linear layers give a vector of length 1 for each region.
//     The logits are its products with the class prototypes and with a learned background vector,
//     times a learned factor. A prototype is the mean of the class's support vectors (Snell et al.,
//     arXiv:1703.05175).
class DetectorImpl : public torch::nn::Module {
 public:
  explicit DetectorImpl(const DetectorShape& shape);

  const DetectorShape& shape() const { return shape_; }
  // x: [B, 3, H, W] in the weights' dtype; with PictureLayout::blocks, the same pictures in blocks
  // (picture_input.h). Returns [B, neck, H / 16, W / 16], with sides rounded up.
  at::Tensor features(const at::Tensor& x, const StepContext& context,
                      PictureLayout layout = PictureLayout::plain);
  // features: [N * K, C, h, w] of the supports, class by class. boxes: f32 [N * K, 4], the object
  // in each support as x1, y1, x2, y2 in pixels. classes: N.
  ClassCodes codes(const at::Tensor& features, const at::Tensor& boxes, std::int64_t classes);
  // features: [Q, C, h, w] of the queries.
  AnchorOutputs anchors(const at::Tensor& features, const ClassCodes& codes);
  // features: [Q, C, h, w] of the queries. boxes: f32 [R, 4]. picture: i64 [R], the query in which
  // each box lies; negative for a box that is not used.
  RegionOutputs regions(const at::Tensor& features, const at::Tensor& boxes,
                        const at::Tensor& picture, const ClassCodes& codes);

 private:
  // The results of `embed`. vectors: f32 [R, E], of length 1. hidden: [R, hidden], from which
  // vectors and box deltas are computed.
  struct Embedded {
    at::Tensor vectors, hidden;
  };
  Embedded embed(const at::Tensor& pooled);

  DetectorShape shape_;
  Trunk trunk;
  torch::nn::Conv2d neck, proposal, objectness, proposal_deltas;
  torch::nn::Linear hidden;  // [hidden, 7 * 7 * C]: cells by row, column and channel
  torch::nn::Linear embedding, box;
  at::Tensor background;  // [E]
  at::Tensor scale;       // []: logarithm of the logits' learned factor
};
TORCH_MODULE(Detector);

}  // namespace lockstep::fewshot
