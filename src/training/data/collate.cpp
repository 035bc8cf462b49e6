#include "training/data/collate.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/searchsorted.h>

#include <algorithm>

namespace lockstep {
namespace {

void check_alike(const std::vector<at::Tensor>& rows) {
  LOCKSTEP_CHECK(!rows.empty());
  const at::Tensor& first = rows[0];
  for (const at::Tensor& row : rows) {
    const bool alike = row.dim() >= 1 && row.dim() == first.dim() &&
                       row.scalar_type() == first.scalar_type() &&
                       row.sizes().slice(1) == first.sizes().slice(1);
    if (!alike)
      throw Error(
          cat("rows of one field must be alike but for their length, but one is ", first.toString(),
              " ", first.sizes(), " and another ", row.toString(), " ", row.sizes()),
          "give them one dtype, and the same sizes behind the first dimension");
  }
}

std::int64_t longest(const std::vector<at::Tensor>& rows) {
  std::int64_t most = 0;
  for (const at::Tensor& row : rows) most = std::max(most, row.size(0));
  return most;
}

std::int64_t padded_length(std::int64_t needed, const std::vector<std::int64_t>& lengths) {
  if (lengths.empty()) return needed;
  LOCKSTEP_CHECK(std::is_sorted(lengths.begin(), lengths.end()));
  const auto next = std::lower_bound(lengths.begin(), lengths.end(), needed);
  if (next == lengths.end())
    throw Error(cat("a row is ", needed, " long, but rows are padded to at most ", lengths.back()),
                "cut the row, or give pad a larger length");
  return *next;
}

}  // namespace

std::vector<at::Tensor> column(const std::vector<std::vector<at::Tensor>>& rows,
                               std::size_t field) {
  std::vector<at::Tensor> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(row.at(field));
  return values;
}

at::Tensor pad(const std::vector<at::Tensor>& rows, double fill,
               const std::vector<std::int64_t>& lengths) {
  check_alike(rows);
  std::vector<std::int64_t> sizes = rows[0].sizes().vec();
  sizes[0] = padded_length(longest(rows), lengths);
  sizes.insert(sizes.begin(), std::ssize(rows));
  at::Tensor padded = at::full(sizes, fill, rows[0].options());
  for (std::size_t i = 0; i < rows.size(); ++i)
    padded[static_cast<std::int64_t>(i)].narrow(0, 0, rows[i].size(0)).copy_(rows[i]);
  return padded;
}

at::Tensor lengths_of(const std::vector<at::Tensor>& rows) {
  at::Tensor lengths = at::empty({std::ssize(rows)}, at::kLong);
  auto* length = lengths.mutable_data_ptr<std::int64_t>();
  for (const at::Tensor& row : rows) *length++ = row.size(0);
  return lengths;
}

Ragged ragged(const std::vector<at::Tensor>& rows) {
  check_alike(rows);
  at::Tensor offsets = at::empty({std::ssize(rows) + 1}, at::kLong);
  auto* offset = offsets.mutable_data_ptr<std::int64_t>();
  offset[0] = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) offset[i + 1] = offset[i] + rows[i].size(0);
  return {.values = at::cat(rows), .offsets = offsets};
}

at::Tensor row_of_values(const at::Tensor& offsets, std::int64_t values) {
  const at::Tensor places = at::arange(values, offsets.options());
  return at::searchsorted(offsets, places, /*out_int32=*/false, /*right=*/true).sub_(1);
}

}  // namespace lockstep
