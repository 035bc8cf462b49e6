// Samples are blocks of consecutive tokens. The target of each token is the next token.
#include "recipes/textgen/model/dataset.h"

#include "recipes/textgen/model/loss.h"
#include "recipes/textgen/options/blocks.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

namespace lockstep::textgen {

TextDataset::TextDataset(std::shared_ptr<const TokenSource> tokens, std::int64_t context,
                         bool shifting)
    : tokens_(std::move(tokens)), context_(context), shifting_(shifting) {}

std::int64_t TextDataset::size() const { return sample_count(tokens_->size(), context_); }

void TextDataset::write(std::int64_t index, const SampleContext& context, std::int32_t* token,
                        std::int64_t* target) const {
  std::int64_t written = 0;
  if (!context.padding) {
    const std::int64_t shift =
        epoch_shift(context.seed, context.epoch, context_, shifting_ && context.training);
    const Block block = block_at(tokens_->size(), context_, shift, index);
    for (const TokenSpan& run : {block.first, block.second}) {
      tokens_->copy(run.begin, run.count, token + written);
      tokens_->copy(run.begin + 1, run.count, target + written);
      written += run.count;
    }
  }
  std::fill_n(token + written, context_ - written, 0);
  std::fill_n(target + written, context_ - written, kIgnored);
}

std::vector<at::Tensor> TextDataset::get(std::int64_t index, SampleContext& context) const {
  at::Tensor tokens = at::empty({context_}, at::kInt), targets = at::empty({context_}, at::kLong);
  write(index, context, tokens.mutable_data_ptr<std::int32_t>(),
        targets.mutable_data_ptr<std::int64_t>());
  return {tokens, targets};
}

std::vector<at::Tensor> TextDataset::batch(const std::vector<std::int64_t>& samples,
                                           std::vector<SampleContext>& contexts) const {
  const std::int64_t rows = std::ssize(samples);
  at::Tensor tokens = at::empty({rows, context_}, at::kInt);
  at::Tensor targets = at::empty({rows, context_}, at::kLong);
  auto* token = tokens.mutable_data_ptr<std::int32_t>();
  auto* target = targets.mutable_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    write(samples[i], contexts[i], token, target);
    token += context_;
    target += context_;
  }
  return {tokens, targets};
}

}  // namespace lockstep::textgen
