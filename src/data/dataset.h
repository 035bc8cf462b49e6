// Data as the engine sees it: random access by index, and batches of tensors.
#pragma once

#include "plan/philox.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// Where a row is used. Everything random about it must come from `random`, so that it depends on
// neither rank, micro-batch, thread nor time.
struct SampleContext {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::int64_t global_row = 0;  // in the step's global batch
  bool training = true;         // false: no augmentation
  bool padding = false;         // the row has weight 0: its sample is read only to fill the batch
  Random random;                // of (seed, step, global_row)
  std::int64_t part = 0;        // which of its sample's rows: [0, rows_per_sample())
};

// Whether a field is uploaded, or stays with the host: Batch::tensors or Batch::host().
enum class FieldPlace { device, host };

// Random access to samples. All but `size` and `get` may stay as it is. Everything is called from
// several threads at once, and depends on its arguments only.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  // The tensors of one row: the sample's only one, or its part context.part. On the CPU; the same
  // number and dtypes for every row, dense in one layout, contiguous or permuted as channels-last
  // ones are.
  virtual std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const = 0;
  // Rows [B] of field lists to fields, of any number, dtypes and sizes (data/collate.h). The
  // default stacks to [B, ...], so shapes must agree, and keeps the layout of the rows.
  virtual std::vector<at::Tensor> collate(const std::vector<std::vector<at::Tensor>>& rows) const;
  // Where each field that `collate` makes belongs. Empty: all to the device.
  virtual std::vector<FieldPlace> fields() const { return {}; }

  // Rows of a batch that a sample is; they may lie on different ranks.
  virtual std::int64_t rows_per_sample() const { return 1; }
  // Places in the order of a training epoch. More than size(): samples come several times.
  virtual std::int64_t epoch_size() const { return size(); }
  // [size()], none negative, not all 0; of any sum. Where there are any, each place of an epoch
  // holds a sample drawn with replacement by them.
  virtual std::vector<double> sample_weights() const { return {}; }
  // The sample at a place in [0, epoch_size()) of a training epoch, for an order of its own;
  // nothing: there is none.
  virtual std::optional<std::int64_t> sample_at(std::uint64_t seed, std::int64_t epoch,
                                                std::int64_t place) const {
    return std::nullopt;
  }
  // What data.group_by_length goes by, of any unit; below 0: not known. Cheap: called often.
  virtual std::int64_t length(std::int64_t index) const { return -1; }
};

// A dataset that writes the rows of a micro-batch straight to their place. The loader calls `batch`
// instead of `get` and `collate`, on one thread for a whole micro-batch: for samples that cost
// little each. Several threads work on as many micro-batches.
class BatchDataset : public Dataset {
 public:
  ~BatchDataset() override;
  // Row i is of sample samples[i], used as contexts[i] says; what `collate` would make of `get`.
  virtual std::vector<at::Tensor> batch(const std::vector<std::int64_t>& samples,
                                        std::vector<SampleContext>& contexts) const = 0;
};

struct DatasetPair {
  std::shared_ptr<const Dataset> train, valid;  // valid may be null
};

// What of a micro-batch never leaves the host.
struct HostPart {
  std::vector<at::Tensor> fields;     // those of FieldPlace::host, in their order
  std::vector<std::int64_t> samples;  // dataset indexes of the rows; -1 = padding
};

// One micro-batch. Tensors are as `collate` made them, of FieldPlace::device; on the host in
// Recipe::loss_weights, on the rank's device in loss and evaluate.
struct Batch {
  std::vector<at::Tensor> tensors;
  at::Tensor row_weight;              // [B] f32, same device: 1, or 0 for padding
  std::int64_t first_global_row = 0;  // row i is row first_global_row + i of the global batch
  std::shared_ptr<const HostPart> host_part{};  // null where the engine did not make the batch
  bool recorded = false;                        // into a CUDA graph

  std::int64_t size() const { return row_weight.size(0); }
  // The fields of FieldPlace::host, in their order; dataset indexes of the rows [B], -1 = padding.
  // A CUDA graph repeats what the host did once, so a step whose loss reads either runs without
  // one: while a graph is recorded these throw Error, which ends the recording.
  const std::vector<at::Tensor>& host() const;
  const std::vector<std::int64_t>& samples() const;
};

}  // namespace lockstep
