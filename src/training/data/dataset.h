// The interface of a dataset, which gives samples by index, and the batches that Lockstep makes
// from them.
#pragma once

#include "core/base/philox.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// Describes one row of a step, which a dataset must read. All random choices for the row must come
// from `random`. Then the row does not depend on rank, micro-batch, thread or time.
struct SampleContext {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::int64_t global_row = 0;  // number of the row in the step's global batch
  bool training = true;         // false: the row is for validation, and must not be augmented
  bool padding = false;         // true: the row has weight 0, and only fills the batch
  Random random;                // derived from (seed, step, global_row)
  std::int64_t part = 0;        // number of the row within its sample, in [0, rows_per_sample())
};

// Says whether a field (a tensor of a batch) is uploaded (Batch::tensors) or stays on the host
// (Batch::host()).
enum class FieldPlace { device, host };

// Gives samples by index. A class must implement only `size` and `get`. Several threads may call
// all functions at once. The results of the functions must depend on their arguments only.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  // Returns the tensors of one row of a sample. If samples have several rows, returns row number
  // context.part. The tensors must be on the CPU, and contiguous or permuted without gaps (such as
  // channels-last). Every row must have the same number of tensors and the same dtypes.
  virtual std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const = 0;
  // Turns the tensors of B rows into the fields of a batch. There may be any number of fields, with
  // any dtypes and sizes. training/data/collate.h has helpers. The default stacks each tensor of
  // the rows to [B, ...], so shapes must agree. The result keeps the memory layout of the rows.
  virtual std::vector<at::Tensor> collate(const std::vector<std::vector<at::Tensor>>& rows) const;
  // Returns for each field that `collate` makes whether it goes to the device or stays on the host.
  // If the list is empty, all fields are on the device.
  virtual std::vector<FieldPlace> fields() const { return {}; }

  // The number of rows that each sample has in a batch. The rows of one sample may be on different
  // ranks.
  virtual std::int64_t rows_per_sample() const { return 1; }
  // The number of samples in a training epoch. The number may be above size(); then samples repeat.
  virtual std::int64_t epoch_size() const { return size(); }
  // Returns one weight for each sample, or an empty list. If the list is not empty, the samples of
  // an epoch are drawn with replacement, in proportion to these weights. No weight may be negative,
  // and at least one must be above 0.
  virtual std::vector<double> sample_weights() const { return {}; }
  // A dataset may define its own order of training samples. Then this function returns the sample
  // at `place`, in [0, epoch_size()), of an epoch. Returns nothing if the dataset has no own order.
  virtual std::optional<std::int64_t> sample_at(std::uint64_t seed, std::int64_t epoch,
                                                std::int64_t place) const {
    return std::nullopt;
  }
  // The length of a sample in any unit, which data.group_by_length uses. The result is below 0 if
  // the length is unknown. The function must be fast, because it is called often.
  virtual std::int64_t length(std::int64_t index) const { return -1; }
};

// A dataset that makes a whole micro-batch in one call. It is meant for samples that take little
// time each. The loader calls `batch` instead of `get` and `collate`. One thread makes a
// micro-batch, and several threads make different micro-batches at the same time.
class BatchDataset : public Dataset {
 public:
  ~BatchDataset() override;
  // Makes the fields of a micro-batch. Row i is read from sample samples[i] with contexts[i]. Must
  // return the same fields as `get` and `collate` would return.
  virtual std::vector<at::Tensor> batch(const std::vector<std::int64_t>& samples,
                                        std::vector<SampleContext>& contexts) const = 0;
};

struct DatasetPair {
  std::shared_ptr<const Dataset> train, valid;  // `valid` may be null
};

// The parts of a micro-batch that stay on the host.
struct HostPart {
  std::vector<at::Tensor> fields;     // the fields of FieldPlace::host, in order
  std::vector<std::int64_t> samples;  // the dataset index of each row; -1 for padding rows
};

// One micro-batch. `tensors` holds the fields with FieldPlace::device, as `collate` made them. In
// Recipe::loss_weights these fields are on the host. In Recipe::loss and Recipe::evaluate they are
// on the rank's device.
struct Batch {
  std::vector<at::Tensor> tensors;
  at::Tensor row_weight;  // f32 [B], on the device of `tensors`: 1, or 0 for padding rows
  // Row i of this batch is row first_global_row + i of the global batch.
  std::int64_t first_global_row = 0;
  std::shared_ptr<const HostPart> host_part{};  // null if no loader made the batch
  bool captured = false;                        // true while the step is captured as a CUDA graph

  std::int64_t size() const { return row_weight.size(0); }
  // host() returns the fields with FieldPlace::host, in order. samples() returns the dataset index
  // of each row, or -1 for padding rows. A CUDA graph cannot repeat work of the host. So both
  // functions throw Error during a capture. The capture then fails, and steps run without a graph.
  const std::vector<at::Tensor>& host() const;
  const std::vector<std::int64_t>& samples() const;
};

}  // namespace lockstep
