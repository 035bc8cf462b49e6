// A transformer of the GPT-2 form: pre-norm blocks, learned positions, causal attention.
#include "recipes/textgen/model/gpt.h"

#include "core/base/check.h"
#include "core/base/text/text.h"
#include "ops/activation/activation.h"
#include "ops/attention/attention.h"
#include "ops/embedding/embedding.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/linear/linear.h"
#include "recipes/textgen/model/generation/cached_attention.h"
#include "recipes/textgen/model/generation/kv_cache.h"
#include "training/parameters/initial_values.h"

#include <ATen/ops/linear.h>

#include <cmath>
#include <utility>

namespace lockstep::textgen {
namespace {

constexpr double kNormEpsilon = 1e-5;

// Numbers of the model's dropout layers. The embedding has 0, and each block has three.
enum class DropoutPlace { attention_output = 1, feed_forward_output = 2, probabilities = 3 };
std::int64_t dropout_layer(std::int64_t block, DropoutPlace place) {
  return 3 * block + static_cast<std::int64_t>(place);
}

}  // namespace

Gpt::Gpt(const GptShape& shape, std::uint64_t seed) : shape_(shape) {
  LOCKSTEP_CHECK(shape.heads > 0 && shape.width % shape.heads == 0);
  const double std = shape.init_std;
  const double last_std = std / std::sqrt(2.0 * static_cast<double>(shape.layers));
  tok_ = make_matrix("tok", shape.vocab, shape.width, std, seed);
  pos_ = make_matrix("pos", shape.context, shape.width, std, seed);
  for (Parameter& table : parameters_) table.use = ParameterUse::embedding;
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    const std::string name = cat("blocks.", i, ".");
    Block block;
    block.ln1 = make_norm(name + "ln1");
    block.qkv = make_linear(name + "qkv", 3 * shape.width, shape.width, std, seed);
    block.proj = make_linear(name + "proj", shape.width, shape.width, last_std, seed);
    block.ln2 = make_norm(name + "ln2");
    block.up = make_linear(name + "up", shape.feed_forward, shape.width, std, seed);
    block.down = make_linear(name + "down", shape.width, shape.feed_forward, last_std, seed);
    blocks_.push_back(std::move(block));
  }
  ln_ = make_norm("ln");
  head_ = shape.tied ? tok_ : make_matrix("head", shape.vocab, shape.width, std, seed);
  if (!shape.tied) parameters_.back().use = ParameterUse::head;
}

at::Tensor Gpt::keep(std::string name, at::Tensor tensor, bool decay) {
  parameters_.push_back({.name = std::move(name), .tensor = tensor, .decay = decay});
  return tensor;
}

at::Tensor Gpt::make_matrix(const std::string& name, std::int64_t rows, std::int64_t columns,
                            double std, std::uint64_t seed) {
  const auto number = static_cast<std::int64_t>(parameters_.size());
  return keep(name + ".weight", normal_parameter({rows, columns}, std, seed, number), true);
}

Gpt::Affine Gpt::make_linear(const std::string& name, std::int64_t out, std::int64_t in, double std,
                             std::uint64_t seed) {
  Affine made{.weight = make_matrix(name, out, in, std, seed), .bias = {}};
  if (shape_.bias) made.bias = keep(name + ".bias", constant_parameter({out}, 0), false);
  return made;
}

Gpt::Affine Gpt::make_norm(const std::string& name) {
  Affine made{.weight = keep(name + ".weight", constant_parameter({shape_.width}, 1), false),
              .bias = {}};
  if (shape_.bias) made.bias = keep(name + ".bias", constant_parameter({shape_.width}, 0), false);
  return made;
}

std::tuple<at::Tensor, at::Tensor> Gpt::add_and_normalize(const at::Tensor& x,
                                                          const at::Tensor& branch,
                                                          const Affine& norm) const {
  return residual_layer_norm(x, branch, norm.weight, norm.bias, kNormEpsilon);
}

at::Tensor Gpt::embed(const at::Tensor& tokens, const StepContext& context,
                      std::int64_t first) const {
  const std::int64_t t = tokens.size(1);
  LOCKSTEP_CHECK(first + t <= shape_.context);
  const at::Tensor positions = t == shape_.context ? pos_ : pos_.narrow(0, first, t);
  return context.dropout(embed_tokens(tokens, tok_, positions), shape_.dropout, 0);
}

at::Tensor Gpt::attend_by_parts(const at::Tensor& packed, std::int64_t index,
                                const StepContext& context, KvCache* cache) const {
  // The backward of unbind is one stack. Each of three slices would write a whole tensor of zeros
  // instead.
  const auto parts = packed.unbind(2);
  const at::Tensor query = parts[0].transpose(1, 2);
  KvCache::View seen{.key = parts[1].transpose(1, 2), .value = parts[2].transpose(1, 2)};
  if (cache) seen = cache->append(index, seen.key, seen.value);
  const at::Tensor mixed = context.training && shape_.attention_dropout > 0
                               ? causal_attention_with_dropout(
                                     query, seen.key, seen.value, shape_.attention_dropout,
                                     dropout_layer(index, DropoutPlace::probabilities), context)
                               : causal_attention(query, seen.key, seen.value);
  return mixed.transpose(1, 2);
}

at::Tensor Gpt::attend(const at::Tensor& x, std::int64_t index, const StepContext& context,
                       KvCache* cache) const {
  const Block& block = blocks_[static_cast<std::size_t>(index)];
  const std::int64_t b = x.size(0), t = x.size(1), d = shape_.width / shape_.heads;
  const at::Tensor qkv = linear_layer(x, block.qkv.weight, block.qkv.bias);
  const at::Tensor packed = qkv.view({b, t, 3, shape_.heads, d});
  const at::Tensor mixed = cache || (context.training && shape_.attention_dropout > 0)
                               ? attend_by_parts(packed, index, context, cache)
                               : packed_causal_attention(packed);
  const at::Tensor joined = mixed.reshape({b, t, shape_.width});
  return context.dropout(linear_layer(joined, block.proj.weight, block.proj.bias), shape_.dropout,
                         dropout_layer(index, DropoutPlace::attention_output));
}

at::Tensor Gpt::feed_forward(const at::Tensor& x, std::int64_t index,
                             const StepContext& context) const {
  const Block& block = blocks_[static_cast<std::size_t>(index)];
  const at::Tensor up = linear_layer(x, block.up.weight);
  const at::Tensor active = bias_gelu(up, block.up.bias, shape_.tanh_gelu);
  return context.dropout(linear_layer(active, block.down.weight, block.down.bias), shape_.dropout,
                         dropout_layer(index, DropoutPlace::feed_forward_output));
}

std::vector<at::Tensor> Gpt::run_block(const std::vector<at::Tensor>& stream, std::int64_t index,
                                       const StepContext& context, KvCache* cache) const {
  const Block& block = blocks_[static_cast<std::size_t>(index)];
  at::Tensor branch = stream.size() > 1 ? stream[1] : at::Tensor();
  auto [x, normed] = add_and_normalize(stream[0], branch, block.ln1);
  branch = attend(normed, index, context, cache);
  std::tie(x, normed) = add_and_normalize(x, branch, block.ln2);
  return {x, feed_forward(normed, index, context)};
}

std::vector<at::Tensor> Gpt::parameters_of(std::int64_t index) const {
  const Block& block = blocks_[static_cast<std::size_t>(index)];
  std::vector<at::Tensor> all;
  for (const Affine* affine :
       {&block.ln1, &block.qkv, &block.proj, &block.ln2, &block.up, &block.down}) {
    all.push_back(affine->weight);
    if (affine->bias.defined()) all.push_back(affine->bias);
  }
  return all;
}

at::Tensor Gpt::hidden(const at::Tensor& tokens, const StepContext& context, KvCache* cache) const {
  std::vector<at::Tensor> stream{embed(tokens, context, cache ? cache->length() : 0)};
  for (std::int64_t i = 0; i < shape_.layers; ++i) {
    const auto block = [this, i, context, cache](const std::vector<at::Tensor>& inputs) {
      return run_block(inputs, i, context, cache);
    };
    stream = context.block(i, block, stream, parameters_of(i));
  }
  const at::Tensor &x = stream[0], &branch = stream[1];
  if (cache) cache->advance(tokens.size(1));
  return std::get<1>(add_and_normalize(x, branch, ln_));
}

at::Tensor Gpt::logits(const at::Tensor& hidden) const { return at::linear(hidden, head_); }

}  // namespace lockstep::textgen
