// Rows to a batch, and which of them could not be read.
#include "data/pending_batch.h"

#include "base/check.h"
#include "data/sample_error.h"
#include "launch/heartbeat.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>

#include <utility>

namespace lockstep {
namespace {

// The sample that a row holds; -1: that of another row.
std::int64_t held_sample(const Row& row) { return row.sample >= 0 ? row.sample : row.filler; }

// [n, ...] to [rows, ...]: its rows, over and over.
at::Tensor repeat_rows(const at::Tensor& tensor, std::int64_t rows) {
  at::Tensor index = at::empty({rows}, at::kLong);
  for (std::int64_t i = 0; i < rows; ++i)
    index.mutable_data_ptr<std::int64_t>()[i] = i % tensor.size(0);
  return at::index_select(tensor, 0, index);
}

}  // namespace

PendingBatch::PendingBatch(const PendingBatchOptions& options)
    : options_(options), batches_(dynamic_cast<const BatchDataset*>(&options.dataset)) {
  LOCKSTEP_CHECK(options.rows > 0);
  rows_.resize(static_cast<std::size_t>(options.rows));
  if (batches_ == nullptr) read_.resize(rows_.size());
  errors_.resize(static_cast<std::size_t>(parts()));
}

SampleContext PendingBatch::context_of(const Row& row) const {
  const auto step = static_cast<std::uint64_t>(options_.step);
  const auto global_row = static_cast<std::uint64_t>(row.global_row);
  return {.seed = options_.seed,
          .epoch = row.epoch,
          .step = options_.step,
          .global_row = row.global_row,
          .training = options_.training,
          .padding = row.sample < 0,
          .random = Random(options_.seed, RandomStream::augment, step, global_row)};
}

void PendingBatch::read(std::int64_t part) {
  beat();
  const auto place = static_cast<std::size_t>(part);
  try {
    if (batches_ == nullptr)
      read_row(place);
    else
      read_all();
  } catch (...) {
    errors_[place] = std::current_exception();
  }
}

Row PendingBatch::row_at(std::size_t place) const {
  return options_.row_of(options_.step, options_.first_row + static_cast<std::int64_t>(place));
}

void PendingBatch::read_row(std::size_t place) {
  rows_[place] = row_at(place);
  const std::int64_t sample = held_sample(rows_[place]);
  if (sample < 0) return;
  SampleContext context = context_of(rows_[place]);
  try {
    read_[place] = options_.dataset.get(sample, context);
  } catch (...) {
    rethrow_naming({sample}, options_.training);
  }
}

void PendingBatch::read_all() {
  std::vector<SampleContext> contexts;
  contexts.reserve(rows_.size());
  for (std::size_t place = 0; place < rows_.size(); ++place) {
    rows_[place] = row_at(place);
    if (held_sample(rows_[place]) >= 0) contexts.push_back(context_of(rows_[place]));
  }
  note_samples();
  try {
    tensors_ = batches_->batch(samples_, contexts);
  } catch (...) {
    rethrow_naming(samples_, options_.training);
  }
}

void PendingBatch::collate() {
  note_samples();
  read_.resize(samples_.size());
  try {
    tensors_ = options_.dataset.collate(read_);
  } catch (...) {
    rethrow_naming(samples_, options_.training);
  }
  read_.clear();
}

void PendingBatch::note_samples() {
  samples_.reserve(rows_.size());
  for (const Row& row : rows_) {
    if (held_sample(row) < 0) continue;
    LOCKSTEP_CHECK(&row == &rows_[samples_.size()]);
    samples_.push_back(held_sample(row));
  }
  LOCKSTEP_CHECK(!samples_.empty());
}

Batch PendingBatch::assemble() {
  for (const std::exception_ptr& error : errors_)
    if (error) std::rethrow_exception(error);
  if (batches_ == nullptr) collate();
  Batch batch{.tensors = std::move(tensors_), .first_global_row = rows_[0].global_row};
  if (samples_.size() < rows_.size())
    for (at::Tensor& tensor : batch.tensors) tensor = repeat_rows(tensor, options_.rows);
  batch.row_weight = at::empty({options_.rows}, at::kFloat);
  float* weight = batch.row_weight.mutable_data_ptr<float>();
  for (const Row& row : rows_) *weight++ = row.sample >= 0 ? 1.0F : 0.0F;
  return batch;
}

}  // namespace lockstep
