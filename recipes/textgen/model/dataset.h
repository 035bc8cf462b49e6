// Blocks of neighbouring tokens with the tokens that follow them.
#pragma once

#include "recipes/textgen/model/token_source.h"
#include "training/data/dataset.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep::textgen {

// A sample is {tokens i32 [T], targets i64 [T]}, T = context: a block as options/blocks.h cuts it.
// A shorter block is padded with token 0 and target kIgnored; a padding row has nothing else. With
// `shifting`, training samples of an epoch are cut at the epoch's offset. Validation samples never
// are.
class TextDataset : public BatchDataset {
 public:
  TextDataset(std::shared_ptr<const TokenSource> tokens, std::int64_t context, bool shifting);

  std::int64_t size() const override;
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override;
  std::vector<at::Tensor> batch(const std::vector<std::int64_t>& samples,
                                std::vector<SampleContext>& contexts) const override;

 private:
  // Writes one sample: [T] to each pointer.
  void write(std::int64_t index, const SampleContext& context, std::int32_t* token,
             std::int64_t* target) const;

  std::shared_ptr<const TokenSource> tokens_;
  std::int64_t context_;
  bool shifting_;
};

}  // namespace lockstep::textgen
