// The default batch: rows one by one, their fields stacked.
#include "data/dataset.h"

#include "base/check.h"
#include "launch/heartbeat.h"

#include <ATen/ops/empty_strided.h>
#include <ATen/ops/stack.h>

namespace lockstep {
namespace {

// As at::stack, but rows in channels-last or another permuted layout give a batch in that layout.
at::Tensor stack_rows(const std::vector<at::Tensor>& rows) {
  const at::Tensor& first = rows[0];
  if (first.is_contiguous() || !first.is_non_overlapping_and_dense()) return at::stack(rows);
  std::vector<std::int64_t> sizes = first.sizes().vec(), strides = first.strides().vec();
  sizes.insert(sizes.begin(), static_cast<std::int64_t>(rows.size()));
  strides.insert(strides.begin(), first.numel());
  at::Tensor batch = at::empty_strided(sizes, strides, first.options());
  at::stack_out(batch, rows);
  return batch;
}

}  // namespace

std::vector<at::Tensor> Dataset::batch(const std::vector<std::int64_t>& samples,
                                       std::vector<SampleContext>& contexts) const {
  LOCKSTEP_CHECK(samples.size() == contexts.size());
  std::vector<std::vector<at::Tensor>> rows;
  rows.reserve(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    beat();
    rows.push_back(samples[i] >= 0 ? get(samples[i], contexts[i]) : padding(contexts[i]));
  }
  return collate(rows);
}

std::vector<at::Tensor> Dataset::collate(const std::vector<std::vector<at::Tensor>>& rows) const {
  LOCKSTEP_CHECK(!rows.empty());
  std::vector<at::Tensor> fields;
  std::vector<at::Tensor> column(rows.size());
  for (std::size_t field = 0; field < rows[0].size(); ++field) {
    for (std::size_t row = 0; row < rows.size(); ++row) column[row] = rows[row].at(field);
    fields.push_back(stack_rows(column));
  }
  return fields;
}

}  // namespace lockstep
