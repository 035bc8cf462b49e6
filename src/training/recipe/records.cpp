#include "training/recipe/records.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <utility>

namespace lockstep {
namespace {

at::Tensor flat(const at::Tensor& record) {
  return record.detach().to(at::kCPU, at::kDouble).contiguous().view({-1});
}

at::Tensor joined(const std::vector<at::Tensor>& rows) {
  std::vector<at::Tensor> parts{at::empty({0}, at::kDouble)};
  for (const at::Tensor& row : rows) parts.push_back(flat(row));
  return at::cat(parts);
}

std::vector<std::int64_t> ends(const std::vector<at::Tensor>& rows) {
  std::vector<std::int64_t> offsets{0};
  for (const at::Tensor& row : rows) offsets.push_back(offsets.back() + row.numel());
  return offsets;
}

std::vector<std::int64_t> even(const at::Tensor& rows) {
  LOCKSTEP_CHECK(rows.dim() == 2);
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i <= rows.size(0); ++i) offsets.push_back(i * rows.size(1));
  return offsets;
}

}  // namespace

Records::Records(at::Tensor values, std::vector<std::int64_t> offsets)
    : values_(std::move(values)), offsets_(std::move(offsets)) {
  LOCKSTEP_CHECK(values_.dim() == 1 && values_.is_cpu() && values_.scalar_type() == at::kDouble);
  LOCKSTEP_CHECK(!offsets_.empty() && offsets_.front() == 0 && offsets_.back() == values_.size(0));
}

Records::Records(const std::vector<at::Tensor>& rows) : Records(joined(rows), ends(rows)) {}

Records::Records(const at::Tensor& rows) : Records(flat(rows), even(rows)) {}

at::Tensor Records::operator[](std::int64_t i) const {
  LOCKSTEP_CHECK(i >= 0 && i < size());
  return values_.narrow(0, offsets_[at(i)], length(i));
}

at::Tensor Records::dense() const {
  if (size() == 0) return values_.view({0, 0});
  for (std::int64_t i = 1; i < size(); ++i)
    if (length(i) != length(0))
      throw Error(cat("the record of sample ", i, " of the evaluation has ", length(i),
                      " numbers, that of sample 0 has ", length(0)),
                  "where they differ, metrics must read them one by one: records[i]");
  return values_.view({size(), length(0)});
}

}  // namespace lockstep
