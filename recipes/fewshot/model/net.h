// The detector's computations on pictures, supports and regions. regions.h and loss.h choose the
// regions and their targets.
#pragma once

#include "recipes/fewshot/model/trunk.h"
#include "recipes/fewshot/options/fewshot_options.h"

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>

namespace lockstep::fewshot {

inline constexpr std::int64_t stride = 16;  // pixels per cell of a feature map
// RoIAlign divides a region into this many cells along each axis
inline constexpr std::int64_t pooled_size = 7;

// The codes of an episode's N classes, made from the support set.
struct ClassCodes {
  at::Tensor kernels;     // [N, C]: kernels with which the proposals of each class are found
  at::Tensor prototypes;  // f32 [N, E], of length 1
};

// Objectness and box changes for each class and anchor, in the order h * w * A of regions.h. They
// have the weights' dtype, and may be views of channels.
struct AnchorOutputs {
  at::Tensor objectness;  // [Q, N, h * w, A] logits
  at::Tensor deltas;      // [Q, N, h * w, A, 4]
};

struct RegionOutputs {
  at::Tensor logits;  // f32 [R, N + 1]; the last column is the background
  at::Tensor deltas;  // [R, 4] in the weights' dtype, the same for all classes
};

// A trunk (trunk.h), a 1x1 convolution to `neck` channels, Attention-RPN, and a head over
// RoIAligned regions. Attention-RPN (Fan et al., arXiv:1908.01998) applies the mean of a class's
// supports as a depth-wise 1x1 kernel to the query's map, and then a proposal network per class.
// The head has two linear layers that give a vector of length 1. This vector is compared with the
// mean of each class's support vectors (prototypes, Snell et al., arXiv:1703.05175) and with a
// learned vector of the background. The results are multiplied by a learned factor.
class DetectorImpl : public torch::nn::Module {
 public:
  explicit DetectorImpl(const DetectorShape& shape);

  const DetectorShape& shape() const { return shape_; }
  // x: [B, 3, H, W] in the weights' dtype, or the same in blocks, as `layout` says. Returns [B,
  // neck, H / 16, W / 16], rounded up.
  at::Tensor features(const at::Tensor& x, const StepContext& context,
                      PictureLayout layout = PictureLayout::plain);
  // features: [N * K, C, h, w] of supports, class by class. boxes: f32 [N * K, 4], the object in
  // each support, as x1, y1, x2, y2 in pixels.
  ClassCodes codes(const at::Tensor& features, const at::Tensor& boxes, std::int64_t classes);
  // features [Q, C, h, w] of queries.
  AnchorOutputs anchors(const at::Tensor& features, const ClassCodes& codes);
  // boxes: f32 [R, 4]. picture: i64 [R], the query in which each box lies.
  RegionOutputs regions(const at::Tensor& features, const at::Tensor& boxes,
                        const at::Tensor& picture, const ClassCodes& codes);

 private:
  // For pooled [R, C, 7, 7]: vectors f32 [R, E] of length 1, and the hidden vectors [R, hidden]
  // from which they are computed.
  struct Embedded {
    at::Tensor vectors, hidden;
  };
  Embedded embed(const at::Tensor& pooled);

  DetectorShape shape_;
  Trunk trunk;
  torch::nn::Conv2d neck, proposal, objectness, proposal_deltas;
  torch::nn::Linear hidden;  // of a region's cells by rows, columns, channels: [hidden, 7 * 7 * C]
  torch::nn::Linear embedding, box;
  at::Tensor background;  // [E]
  at::Tensor scale;       // []: logarithm of the learned factor
};
TORCH_MODULE(Detector);

}  // namespace lockstep::fewshot
