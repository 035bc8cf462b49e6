// The network of the volume recipe: a residual attention U-Net in three dimensions.
#pragma once

#include "recipes/volume/options/volume_options.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::volume {

// The encoder has a residual block at each level, and max pooling by 2 between levels. The decoder
// has these parts at each level:
//   1. a transposed convolution, which doubles the extents
//   2. a residual block over the result of 1, concatenated with the encoder's result of that level
//   3. attention over channels, then over voxels, if NetShape::attention is true
// A residual block has two 3³ convolutions, each with instance norm. ReLU and channel dropout
// follow the first convolution. The input of the block is added to the result of the second
// convolution, and ReLU follows. If input and result have different numbers of channels, a 1³
// convolution is applied to the input before it is added.
//
// Parameters are named encoder.L.{conv1,conv2,skip}.weight, up.L.{weight,bias},
// decoder.L.{conv1,conv2,skip}.weight, attention.L.{squeeze,excite,place}.weight and
// heads.L.{weight,bias}. L is the level, and level 0 has full resolution. Weights of convolutions
// are channels-last.
class Net : public Model {
 public:
  // Weights are drawn uniformly from [-1/sqrt(fan-in), 1/sqrt(fan-in)], as in PyTorch's
  // convolutions. The same seed gives the same weights.
  Net(const NetShape& shape, std::uint64_t seed);

  const NetShape& shape() const { return shape_; }
  std::vector<Parameter> parameters() override { return parameters_; }

  // x: [B, channels, D, H, W] in the parameters' dtype, channels-last. D, H and W must be multiples
  // of 2^depth. Returns logits [B, outputs, D, H, W] in the same dtype. In training with deep
  // supervision, also returns the logits of the coarser levels. Each level has half the extents of
  // the level before.
  std::vector<at::Tensor> logits(const at::Tensor& x, const StepContext& context) const;

 private:
  struct Block {
    at::Tensor conv1, conv2, skip;  // skip: undefined if the numbers of channels are equal
    double dropout = 0;
    std::int64_t layer = 0;  // the argument `layer` of StepContext::dropout
  };
  struct Up {
    at::Tensor weight, bias;
  };
  struct Attention {
    at::Tensor squeeze, excite, place;
  };
  struct Head {
    at::Tensor weight, bias;
  };

  at::Tensor keep(const std::string& name, at::IntArrayRef sizes, std::int64_t fan_in,
                  std::uint64_t seed);
  Block make_block(const std::string& name, std::int64_t in, std::int64_t out, double dropout,
                   std::uint64_t seed);
  at::Tensor run(const Block& block, const at::Tensor& x, const StepContext& context) const;
  at::Tensor attend(const Attention& attention, const at::Tensor& x) const;

  NetShape shape_;
  std::vector<Parameter> parameters_;
  std::vector<Block> encoder_, decoder_;
  std::vector<Up> up_;
  std::vector<Attention> attention_;
  std::vector<Head> heads_;
};

}  // namespace lockstep::volume
