#include "recipes/volume/model/net.h"

#include "core/base/philox.h"
#include "core/base/text/text.h"
#include "ops/attention_gate/attention_gate.h"
#include "ops/cat_channels/cat_channels.h"
#include "ops/channel_norm/fused_norm.h"
#include "ops/spatial/spatial.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/conv_transpose3d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>

#include <cmath>

namespace lockstep::volume {
namespace {

constexpr std::int64_t place_window = 7;  // window of spatial attention

// Draws uniform values in [-bound, bound], in the order of a contiguous tensor.
at::Tensor uniform_values(at::IntArrayRef sizes, double bound, std::uint64_t seed,
                          std::uint64_t parameter) {
  at::Tensor tensor = at::empty(sizes, at::kFloat);
  float* values = tensor.mutable_data_ptr<float>();
  Random random(seed, RandomStream::init, parameter, 0);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    values[i] = static_cast<float>((2 * random.uniform() - 1) * bound);
  return tensor;
}

at::Tensor conv(const at::Tensor& x, const at::Tensor& weight) {
  return at::conv3d(x, weight, {}, 1, weight.size(2) / 2);
}

}  // namespace

at::Tensor Net::keep(const std::string& name, at::IntArrayRef sizes, std::int64_t fan_in,
                     std::uint64_t seed) {
  at::Tensor tensor =
      uniform_values(sizes, 1 / std::sqrt(static_cast<double>(fan_in)), seed, parameters_.size());
  if (tensor.dim() == 5) tensor = tensor.contiguous(at::MemoryFormat::ChannelsLast3d);
  tensor.requires_grad_(true);
  parameters_.push_back(
      {.name = name,
       .tensor = tensor,
       .decay = tensor.dim() > 1,
       .use = name.starts_with("heads.") ? ParameterUse::head : ParameterUse::usual});
  return tensor;
}

Net::Block Net::make_block(const std::string& name, std::int64_t in, std::int64_t out,
                           double dropout, std::uint64_t seed) {
  Block block{.dropout = dropout,
              .layer = static_cast<std::int64_t>(encoder_.size() + decoder_.size())};
  block.conv1 = keep(name + ".conv1.weight", {out, in, 3, 3, 3}, 27 * in, seed);
  block.conv2 = keep(name + ".conv2.weight", {out, out, 3, 3, 3}, 27 * out, seed);
  if (in != out) block.skip = keep(name + ".skip.weight", {out, in, 1, 1, 1}, in, seed);
  return block;
}

Net::Net(const NetShape& shape, std::uint64_t seed) : shape_(shape) {
  const std::int64_t depth = shape.depth;
  const auto share = [](std::int64_t level, std::int64_t last) {
    return last < 1 ? 0.0 : static_cast<double>(level) / static_cast<double>(last);
  };
  for (std::int64_t level = 0; level <= depth; ++level)
    encoder_.push_back(make_block(cat("encoder.", level),
                                  level == 0 ? shape.channels : shape.width << (level - 1),
                                  shape.width << level, shape.dropout * share(level, depth), seed));
  for (std::int64_t level = 0; level < depth; ++level) {
    const std::int64_t width = shape.width << level;
    // The fan-in of a transposed convolution counts output channels, as in torch.
    up_.push_back({keep(cat("up.", level, ".weight"), {2 * width, width, 2, 2, 2}, 8 * width, seed),
                   keep(cat("up.", level, ".bias"), {width}, 8 * width, seed)});
    decoder_.push_back(make_block(cat("decoder.", level), 2 * width, width,
                                  shape.decoder_dropout * share(level, depth - 1), seed));
    if (shape.attention) {
      const std::int64_t narrow = bottleneck(width);
      const std::string name = cat("attention.", level);
      attention_.push_back(
          {keep(name + ".squeeze.weight", {narrow, width}, width, seed),
           keep(name + ".excite.weight", {width, narrow}, narrow, seed),
           keep(name + ".place.weight", {1, 2, place_window, place_window, place_window},
                std::int64_t{2} * 343, seed)});
    }
    if (level == 0 || shape.deep_supervision)
      heads_.push_back(
          {keep(cat("heads.", level, ".weight"), {shape.outputs, width, 1, 1, 1}, width, seed),
           keep(cat("heads.", level, ".bias"), {shape.outputs}, width, seed)});
  }
}

at::Tensor Net::run(const Block& block, const at::Tensor& x, const StepContext& context) const {
  at::Tensor kept;  // f32 [B, C] with 0 or 1 / (1 - p)
  if (context.training && block.dropout > 0)
    kept =
        context.dropout(at::ones({x.size(0), block.conv1.size(0)}, x.options().dtype(at::kFloat)),
                        block.dropout, block.layer);
  const at::Tensor first = instance_norm_act(conv(x, block.conv1), kept, {}, true);
  const at::Tensor skip = block.skip.defined() ? conv(x, block.skip) : x;
  return instance_norm_act(conv(first, block.conv2), {}, skip, true);
}

at::Tensor Net::attend(const Attention& attention, const at::Tensor& x) const {
  const PooledVoxels pooled = pool_voxels(x);
  const auto weigh = [&](const at::Tensor& channels) {
    return at::linear(at::linear(channels, attention.squeeze).relu(), attention.excite);
  };
  return spatial_gate(pooled.x, (weigh(pooled.mean) + weigh(pooled.largest)).sigmoid(),
                      attention.place);
}

std::vector<at::Tensor> Net::logits(const at::Tensor& x, const StepContext& context) const {
  std::vector<at::Tensor> levels;
  for (const Block& block : encoder_) {
    at::Tensor input = x;
    if (!levels.empty()) {
      const PooledWindows pooled = pool_windows(levels.back(), {2, 2, 2});
      levels.back() = pooled.x;  // the decoder uses it too
      input = pooled.largest;
    }
    levels.push_back(run(block, input, context));
  }
  at::Tensor y = levels.back();
  std::vector<at::Tensor> found(heads_.size());
  for (std::size_t level = decoder_.size(); level-- > 0;) {
    const at::Tensor finer = at::conv_transpose3d(y, up_[level].weight, up_[level].bias, 2);
    y = run(decoder_[level], cat_channels(levels[level], finer), context);
    if (!attention_.empty()) y = attend(attention_[level], y);
    if (level < heads_.size() && (level == 0 || context.training))
      found[level] = at::conv3d(y, heads_[level].weight, heads_[level].bias);
  }
  if (!context.training) found.resize(1);
  return found;
}

}  // namespace lockstep::volume
