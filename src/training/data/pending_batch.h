// A micro-batch that is being assembled. Any number of threads read its rows.
#pragma once

#include "training/data/dataset.h"
#include "training/data/training_rows.h"

#include <cstdint>
#include <exception>
#include <vector>

namespace lockstep {

// Which rows to read: [first_row, first_row + rows) of a step. `dataset` and `row_of` outlive the
// PendingBatch.
struct PendingBatchOptions {
  const Dataset& dataset;
  const RowOf& row_of;
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  std::int64_t first_row = 0, rows = 0;
  bool training = true;
};

// The micro-batch is read in parts: single rows, or all rows at once for a BatchDataset. Several
// threads may read different parts at the same time. Call `assemble` when all parts are read.
class PendingBatch {
 public:
  explicit PendingBatch(const PendingBatchOptions& options);

  std::int64_t parts() const { return batches_ == nullptr ? options_.rows : 1; }
  // Keeps an exception for `assemble`.
  void read(std::int64_t part);
  // Throws the exception of the first row that could not be read, and names its sample. Padding
  // rows without a sample of their own must come last, after at least one other row. They repeat
  // the rows before them in turn.
  Batch assemble();
  const std::vector<Row>& rows() const { return rows_; }  // once all parts are read

 private:
  Row row_at(std::size_t place) const;
  void read_row(std::size_t place);
  void read_all();
  SampleContext context_of(const Row& row) const;
  void fill_rows();
  void collate();
  Batch split_fields();

  PendingBatchOptions options_;
  const BatchDataset* batches_;  // null: row by row
  std::vector<Row> rows_;
  std::vector<std::int64_t> samples_;          // sample of each row, set when all are known
  std::int64_t held_ = 0;                      // number of rows with their own sample; these come
                                               // first
  std::vector<std::vector<at::Tensor>> read_;  // by row
  std::vector<std::exception_ptr> errors_;     // by part
  std::vector<at::Tensor> fields_;
};

}  // namespace lockstep
