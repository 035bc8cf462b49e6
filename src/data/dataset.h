// Data as the engine sees it: random access by index, and batches of tensors.
#pragma once

#include "plan/philox.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

// Where a sample is used. Everything random about it must come from `random`, so that it depends on
// neither rank, micro-batch, thread nor time.
struct SampleContext {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::int64_t global_row = 0;  // in the step's global batch
  bool training = true;         // false: no augmentation
  bool padding = false;         // the row has weight 0: its sample is read only to fill the batch
  Random random;                // of (seed, step, global_row)
};

// Random access to samples. `get` and `collate` are called from several threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  // The tensors of one sample, on the CPU; the same number and dtypes for every index, dense in one
  // layout, contiguous or permuted as channels-last ones are.
  virtual std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const = 0;
  // Samples [B] of field lists to fields [B, ...]. The default stacks, so shapes must agree,
  // and keeps the layout of the rows.
  virtual std::vector<at::Tensor> collate(const std::vector<std::vector<at::Tensor>>& rows) const;
};

// A dataset that writes the rows of a micro-batch straight to their place. The loader calls `batch`
// instead of `get` and `collate`, on one thread for a whole micro-batch: for samples that cost
// little each. Several threads work on as many micro-batches.
class BatchDataset : public Dataset {
 public:
  ~BatchDataset() override;
  // Row i is sample samples[i], used as contexts[i] says; what `collate` would make of `get`.
  virtual std::vector<at::Tensor> batch(const std::vector<std::int64_t>& samples,
                                        std::vector<SampleContext>& contexts) const = 0;
};

struct DatasetPair {
  std::shared_ptr<const Dataset> train, valid;  // valid may be null
};

// One micro-batch. Tensors are [B, ...], as `collate` made them; on the host in
// Recipe::loss_weights, on the rank's device in loss and evaluate.
struct Batch {
  std::vector<at::Tensor> tensors;
  at::Tensor row_weight;              // [B] f32, same device: 1, or 0 for padding
  std::int64_t first_global_row = 0;  // row i is row first_global_row + i of the global batch
  std::int64_t size() const { return row_weight.size(0); }
};

}  // namespace lockstep
