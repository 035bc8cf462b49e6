// A micro-batch that is being read and assembled. Several threads may read its rows.
#pragma once

#include "training/data/dataset.h"
#include "training/data/training_rows.h"

#include <cstdint>
#include <exception>
#include <vector>

namespace lockstep {

// Says which rows to read: rows [first_row, first_row + rows) of step `step`. `dataset` and
// `row_of` must outlive the PendingBatch.
struct PendingBatchOptions {
  const Dataset& dataset;
  const RowOf& row_of;
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  std::int64_t first_row = 0, rows = 0;
  bool training = true;
};

// A micro-batch is read in parts. A part is one row, but a BatchDataset reads all rows as one part.
// Several threads may read different parts at the same time. Call `assemble` when all parts are
// read.
class PendingBatch {
 public:
  explicit PendingBatch(const PendingBatchOptions& options);

  std::int64_t parts() const { return batches_ == nullptr ? options_.rows : 1; }
  // Reads one part. If the dataset throws an exception, `assemble` rethrows it.
  void read(std::int64_t part);
  // Makes the batch. If rows could not be read, rethrows the exception of the first of these rows;
  // its message names the sample. Padding rows without a sample (Row::sample and Row::filler below
  // 0) must come last, after at least one other row. These padding rows get the data of the other
  // rows, in turn.
  Batch assemble();
  const std::vector<Row>& rows() const { return rows_; }  // valid when all parts are read

 private:
  Row row_at(std::size_t place) const;
  void read_row(std::size_t place);
  void read_all();
  SampleContext context_of(const Row& row) const;
  void fill_rows();
  void collate();
  Batch split_fields();

  PendingBatchOptions options_;
  const BatchDataset* batches_;  // null if rows are read one by one
  std::vector<Row> rows_;
  std::vector<std::int64_t> samples_;  // the sample of each row; set when all rows are known
  std::int64_t held_ = 0;              // number of rows that have their own sample; they come first
  std::vector<std::vector<at::Tensor>> read_;  // the tensors of each row
  std::vector<std::exception_ptr> errors_;     // the exception of each part
  std::vector<at::Tensor> fields_;
};

}  // namespace lockstep
