// Blocks of neighbouring tokens with the tokens that follow them.
#include "recipes/textgen/model/dataset.h"

#include "recipes/textgen/model/loss.h"
#include "recipes/textgen/options/blocks.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace lockstep::textgen {

TextDataset::TextDataset(std::shared_ptr<const TokenSource> tokens, std::int64_t context,
                         bool shifting)
    : tokens_(std::move(tokens)), context_(context), shifting_(shifting) {}

std::int64_t TextDataset::size() const { return sample_count(tokens_->size(), context_); }

std::vector<at::Tensor> TextDataset::get(std::int64_t index, SampleContext& context) const {
  const std::int64_t shift =
      epoch_shift(context.seed, context.epoch, context_, shifting_ && context.training);
  const Block block = block_at(tokens_->size(), context_, shift, index);
  at::Tensor tokens = at::empty({context_}, at::kInt), targets = at::empty({context_}, at::kLong);
  auto* token = tokens.mutable_data_ptr<std::int32_t>();
  auto* target = targets.mutable_data_ptr<std::int64_t>();
  for (const Run& run : {block.first, block.second}) {
    tokens_->copy(run.begin, run.count, token);
    tokens_->copy(run.begin + 1, run.count, target);
    token += run.count;
    target += run.count;
  }
  std::fill_n(token, context_ - block.targets(), 0);
  std::fill_n(target, context_ - block.targets(), kIgnored);
  return {tokens, targets};
}

std::vector<at::Tensor> TextDataset::padding(SampleContext&) const {
  return {at::zeros({context_}, at::kInt), at::full({context_}, kIgnored, at::kLong)};
}

}  // namespace lockstep::textgen
