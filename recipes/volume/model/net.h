// The residual attention U-Net in three dimensions.
#pragma once

#include "recipes/volume/options/volume_options.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::volume {

// Encoder: a residual block per level, with max pooling by 2 in between. Decoder, per level: a
// transposed convolution by 2; a block over its result and the encoder's result of that level
// together; then attention over channels and over places. A residual block has two 3³ convolutions,
// each with instance norm. ReLU and channel dropout follow the first one. The block's input is
// added to the result (through a 1³ convolution if widths differ), and ReLU follows.
// widths differ), and ReLU follows.
//
// Parameters: encoder.L.{conv1,conv2,skip}.weight, up.L.{weight,bias},
// decoder.L.{conv1,conv2,skip}.weight, attention.L.{squeeze,excite,place}.weight and
// heads.L.{weight,bias}; L = 0 is full resolution. Convolutions' weights are channels-last.
class Net : public Model {
 public:
  // Weights are uniform in +-1/sqrt(fan-in), as in torch's convolutions. The same seed gives the
  // same weights.
  Net(const NetShape& shape, std::uint64_t seed);

  const NetShape& shape() const { return shape_; }
  std::vector<Parameter> parameters() override { return parameters_; }

  // x: [B, channels, D, H, W] in the parameters' dtype, channels-last; extents are multiples of
  // 2^depth. Returns logits [B, outputs, D, H, W] in the same dtype. In training with deep
  // supervision, logits of the coarser levels follow. Each level is half as large along every axis.
  std::vector<at::Tensor> logits(const at::Tensor& x, const StepContext& context) const;

 private:
  struct Block {
    at::Tensor conv1, conv2, skip;  // skip: undefined if widths agree
    double dropout = 0;
    std::int64_t layer = 0;  // number for StepContext::dropout
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
