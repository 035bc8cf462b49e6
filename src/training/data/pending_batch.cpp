// Assembles rows into a batch, and reports rows that could not be read.
#include "training/data/pending_batch.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/data/sample_error.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace lockstep {
namespace {

// Returns the sample whose data the row holds. -1 if the row gets the data of another row.
std::int64_t held_sample(const Row& row) { return row.sample >= 0 ? row.sample : row.filler; }

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
          .random = Random(options_.seed, RandomStream::augment, step, global_row),
          .part = row.part};
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
  for (std::size_t place = 0; place < rows_.size(); ++place) rows_[place] = row_at(place);
  fill_rows();
  for (const Row& row : rows_) contexts.push_back(context_of(row));
  try {
    fields_ = batches_->batch(samples_, contexts);
  } catch (...) {
    rethrow_naming(samples_, options_.training);
  }
}

// Rows without a sample get the sample and the part of an earlier row.
void PendingBatch::fill_rows() {
  samples_.reserve(rows_.size());
  for (Row& row : rows_) {
    if (held_sample(row) < 0) continue;
    LOCKSTEP_CHECK(&row == &rows_[samples_.size()]);
    samples_.push_back(held_sample(row));
  }
  LOCKSTEP_CHECK(!samples_.empty());
  held_ = std::ssize(samples_);
  for (std::size_t place = samples_.size(); place < rows_.size(); ++place) {
    samples_.push_back(samples_[place % static_cast<std::size_t>(held_)]);
    rows_[place].part = rows_[place % static_cast<std::size_t>(held_)].part;
  }
}

void PendingBatch::collate() {
  fill_rows();
  for (auto place = static_cast<std::size_t>(held_); place < read_.size(); ++place)
    read_[place] = read_[place % static_cast<std::size_t>(held_)];
  try {
    fields_ = options_.dataset.collate(read_);
  } catch (...) {
    rethrow_naming({samples_.begin(), samples_.begin() + held_}, options_.training);
  }
  read_.clear();
}

// dataset.fields() determines where each field goes.
Batch PendingBatch::split_fields() {
  const std::vector<FieldPlace> places = options_.dataset.fields();
  if (!places.empty() && places.size() != fields_.size())
    throw Error(cat("fields() of the ", options_.training ? "training" : "validation",
                    " data names ", places.size(), " fields, but a batch has ", fields_.size()),
                "name each field that collate (or batch) makes, in order");
  auto host = std::make_shared<HostPart>();
  Batch batch{.first_global_row = rows_[0].global_row};
  for (std::size_t i = 0; i < fields_.size(); ++i)
    (!places.empty() && places[i] == FieldPlace::host ? host->fields : batch.tensors)
        .push_back(std::move(fields_[i]));
  for (const Row& row : rows_) host->samples.push_back(row.sample);
  batch.host_part = std::move(host);
  return batch;
}

Batch PendingBatch::assemble() {
  for (const std::exception_ptr& error : errors_)
    if (error) std::rethrow_exception(error);
  if (batches_ == nullptr) collate();
  Batch batch = split_fields();
  batch.row_weight = at::empty({options_.rows}, at::kFloat);
  float* weight = batch.row_weight.mutable_data_ptr<float>();
  for (const Row& row : rows_) *weight++ = row.sample >= 0 ? 1.0F : 0.0F;
  return batch;
}

}  // namespace lockstep
