// Data as the engine sees it: random access by index, and batches of tensors.
#pragma once

#include "core/base/philox.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// How a row is used. Everything random about the row must come from `random`, so that the row does
// not depend on rank, micro-batch, thread or time.
struct SampleContext {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::int64_t global_row = 0;  // in the step's global batch
  bool training = true;         // false: no augmentation
  bool padding = false;         // the row has weight 0: its sample is read only to fill the batch
  Random random;                // derived from (seed, step, global_row)
  std::int64_t part = 0;        // which of its sample's rows: [0, rows_per_sample())
};

// Whether a field is uploaded or stays on the host: Batch::tensors or Batch::host().
enum class FieldPlace { device, host };

// Random access to samples. Only `size` and `get` must be implemented. All functions are called
// from several threads at once and must depend on their arguments only.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  // Returns the tensors of one row: the sample's only row, or its row context.part. They are on the
  // CPU, dense in one layout (contiguous, or permuted as channels-last). Every row has the same
  // number of tensors and the same dtypes.
  virtual std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const = 0;
  // Turns the tensors of B rows into fields, of any number, dtypes and sizes
  // (training/data/collate.h). The default stacks them to [B, ...], so shapes must agree. It keeps
  // the layout of the rows.
  virtual std::vector<at::Tensor> collate(const std::vector<std::vector<at::Tensor>>& rows) const;
  // Returns where each field that `collate` makes belongs. Empty: all on the device.
  virtual std::vector<FieldPlace> fields() const { return {}; }

  // The number of rows that each sample has in a batch. These rows may lie on different ranks.
  virtual std::int64_t rows_per_sample() const { return 1; }
  // The number of places in a training epoch. More than size() if samples repeat.
  virtual std::int64_t epoch_size() const { return size(); }
  // Returns [size()] weights: none negative, not all 0, with any sum. If not empty, each place of
  // an epoch holds a sample that is drawn with replacement by these weights.
  virtual std::vector<double> sample_weights() const { return {}; }
  // For a dataset with its own order: returns the sample at a place in [0, epoch_size()) of a
  // training epoch. Nothing: there is no such order.
  virtual std::optional<std::int64_t> sample_at(std::uint64_t seed, std::int64_t epoch,
                                                std::int64_t place) const {
    return std::nullopt;
  }
  // The length that data.group_by_length uses, in any unit; below 0: unknown. Must be cheap,
  // because it is called often.
  virtual std::int64_t length(std::int64_t index) const { return -1; }
};

// A dataset that writes the rows of a micro-batch directly to their final place. It is meant for
// samples that cost little each. The loader calls `batch` instead of `get` and `collate`. One
// thread makes a whole micro-batch, and several threads make different micro-batches at the same
// time.
class BatchDataset : public Dataset {
 public:
  ~BatchDataset() override;
  // Row i comes from sample samples[i], used as contexts[i] says. Returns the same as `get` and
  // `collate` would.
  virtual std::vector<at::Tensor> batch(const std::vector<std::int64_t>& samples,
                                        std::vector<SampleContext>& contexts) const = 0;
};

struct DatasetPair {
  std::shared_ptr<const Dataset> train, valid;  // valid may be null
};

// The parts of a micro-batch that never leave the host.
struct HostPart {
  std::vector<at::Tensor> fields;     // the fields of FieldPlace::host, in order
  std::vector<std::int64_t> samples;  // dataset indexes of the rows; -1 = padding
};

// One micro-batch. `tensors` are the fields of FieldPlace::device as `collate` made them. They are
// on the host in Recipe::loss_weights, and on the rank's device in Recipe::loss and
// Recipe::evaluate.
struct Batch {
  std::vector<at::Tensor> tensors;
  at::Tensor row_weight;              // [B] f32, same device: 1, or 0 for padding
  std::int64_t first_global_row = 0;  // row i is row first_global_row + i of the global batch
  std::shared_ptr<const HostPart> host_part{};  // null if the engine did not make the batch
  bool captured = false;                        // captured into a CUDA graph

  std::int64_t size() const { return row_weight.size(0); }
  // host(): the fields of FieldPlace::host, in order. samples(): the dataset indexes of the rows
  // [B], -1 = padding. A CUDA graph does not repeat work of the host, so a step whose loss calls
  // one of them runs without a graph. During capture both throw Error, which ends the capture.
  const std::vector<at::Tensor>& host() const;
  const std::vector<std::int64_t>& samples() const;
};

}  // namespace lockstep
