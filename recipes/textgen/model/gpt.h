// A transformer as in GPT-2: pre-norm blocks, learned positions, causal attention.
#pragma once

#include "recipes/textgen/model/gpt_shape.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace lockstep::textgen {

class KvCache;

// Parameters are named tok.weight, pos.weight, blocks.N.{ln1,qkv,proj,ln2,up,down}.{weight,bias}
// and ln.{weight,bias}. A model with GptShape::tied = false also has head.weight, the output
// matrix. The rows of qkv are all queries, then all keys, then all values. Each of these three
// groups is ordered by head.
class Gpt : public Model {
 public:
  // Weights are drawn from N(0, init_std^2). The last matrix of each residual branch is divided by
  // sqrt(2 * layers). Biases start at 0, and the weights of norms at 1. The same seed gives the
  // same weights.
  Gpt(const GptShape& shape, std::uint64_t seed);

  const GptShape& shape() const { return shape_; }
  std::vector<Parameter> parameters() override { return parameters_; }

  // tokens: i32|i64 [B,T], T <= context. Returns the output of the last norm, [B,T,width] in the
  // parameters' dtype. With a cache, `tokens` come after the positions in the cache, and their keys
  // and values are added to it.
  at::Tensor hidden(const at::Tensor& tokens, const StepContext& context,
                    KvCache* cache = nullptr) const;
  // Maps hidden [...,width] to [...,vocab], in the same dtype.
  at::Tensor logits(const at::Tensor& hidden) const;
  const at::Tensor& output_matrix() const { return head_; }  // [vocab,width]

 private:
  // Weight and bias of a linear layer or norm. The bias is undefined if GptShape::bias is false.
  struct Affine {
    at::Tensor weight, bias;
  };
  struct Block {
    Affine ln1, qkv, proj, ln2, up, down;
  };

  Affine make_norm(const std::string& name);
  Affine make_linear(const std::string& name, std::int64_t out, std::int64_t in, double std,
                     std::uint64_t seed);
  at::Tensor make_matrix(const std::string& name, std::int64_t rows, std::int64_t columns,
                         double std, std::uint64_t seed);
  at::Tensor keep(std::string name, at::Tensor tensor, bool decay);

  // Returns the sum of x and branch, and this sum after the layer `norm`. If branch is undefined,
  // the sum is x.
  std::tuple<at::Tensor, at::Tensor> add_and_normalize(const at::Tensor& x,
                                                       const at::Tensor& branch,
                                                       const Affine& norm) const;
  // Runs block `index`. stream: the residual stream, and the output of the previous residual
  // branch, which is not yet added to the stream. For the first block, there is no such output.
  // Returns the same two tensors for the next block.
  std::vector<at::Tensor> run_block(const std::vector<at::Tensor>& stream, std::int64_t index,
                                    const StepContext& context, KvCache* cache) const;
  std::vector<at::Tensor> parameters_of(std::int64_t index) const;
  at::Tensor embed(const at::Tensor& tokens, const StepContext& context, std::int64_t first) const;
  // Computes attention with a cache, or with dropout on the probabilities. packed: [B,t,3,h,d],
  // queries, keys and values. Returns [B,t,h,d].
  at::Tensor attend_by_parts(const at::Tensor& packed, std::int64_t index,
                             const StepContext& context, KvCache* cache) const;
  at::Tensor attend(const at::Tensor& x, std::int64_t index, const StepContext& context,
                    KvCache* cache) const;
  at::Tensor feed_forward(const at::Tensor& x, std::int64_t index,
                          const StepContext& context) const;

  GptShape shape_;
  std::vector<Parameter> parameters_;
  at::Tensor tok_, pos_, head_;
  std::vector<Block> blocks_;
  Affine ln_;
};

}  // namespace lockstep::textgen
