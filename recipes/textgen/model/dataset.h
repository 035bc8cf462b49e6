// The data set of the text recipe. A sample is a block of consecutive tokens, with the next token
// of each as its target.
#pragma once

#include "recipes/textgen/model/token_source.h"
#include "training/data/dataset.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep::textgen {

// A sample is {tokens i32 [T], targets i64 [T]} with T = context. options/blocks.h defines the
// blocks. A block that is shorter than T is padded with token 0 and target kIgnored. A padding row
// consists only of such tokens and targets. With `shifting`, the offset at which training samples
// begin is drawn anew for each epoch (epoch_shift). Validation samples are never shifted.
class TextDataset : public BatchDataset {
 public:
  TextDataset(std::shared_ptr<const TokenSource> tokens, std::int64_t context, bool shifting);

  std::int64_t size() const override;
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override;
  std::vector<at::Tensor> batch(const std::vector<std::int64_t>& samples,
                                std::vector<SampleContext>& contexts) const override;

 private:
  // Writes the T tokens and the T targets of a sample.
  void write(std::int64_t index, const SampleContext& context, std::int32_t* token,
             std::int64_t* target) const;

  std::shared_ptr<const TokenSource> tokens_;
  std::int64_t context_;
  bool shifting_;
};

}  // namespace lockstep::textgen
