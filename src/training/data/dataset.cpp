// The default collation of rows into fields.
#include "training/data/dataset.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

#include <ATen/ops/empty_strided.h>
#include <ATen/ops/stack.h>

namespace lockstep {
namespace {

// Like at::stack. But if rows have channels-last or another permuted layout, the batch has that
// layout too.
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

const HostPart& host_part_of(const Batch& batch, const char* what) {
  if (batch.captured)
    throw Error(cat("the loss reads Batch::", what,
                    "(), which a CUDA graph would repeat as it was in the captured step"),
                "nothing is wrong: the steps run without a graph");
  static const HostPart none;
  return batch.host_part ? *batch.host_part : none;
}

}  // namespace

const std::vector<at::Tensor>& Batch::host() const { return host_part_of(*this, "host").fields; }

const std::vector<std::int64_t>& Batch::samples() const {
  return host_part_of(*this, "samples").samples;
}

BatchDataset::~BatchDataset() = default;  // defined here, so that plugins share one type

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
