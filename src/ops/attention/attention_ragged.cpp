// Attention over rows of different lengths that are stored one after another.
#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/attention/attention_paths.h"
#include "ops/shared/second_derivative.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <vector>

namespace lockstep {
namespace {

struct Ragged {
  at::Tensor offsets;  // [B + 1]
  std::int64_t longest = 0;
  Sees sees = Sees::all;
  Behind behind = Behind::anything;
};

void check_offsets(const at::Tensor& qkv, const Ragged& rows) {
  const at::Tensor& offsets = rows.offsets;
  if (offsets.dim() != 1 || offsets.size(0) < 1 ||
      (offsets.scalar_type() != at::kLong && offsets.scalar_type() != at::kInt))
    throw Error(cat("the offsets of ragged attention must be i32 or i64 [rows + 1], but are ",
                    offsets.sizes(), " of ", offsets.scalar_type()));
  if (!offsets.is_cpu()) return;
  check_lengths(offsets.diff(), offsets.size(0) - 1, rows.longest);
  const auto first = offsets[0].item<std::int64_t>(), last = offsets[-1].item<std::int64_t>();
  if (first != 0 || last > qkv.size(0))
    throw Error(cat("the offsets of ragged attention must begin at 0 and end at ", qkv.size(0),
                    " at most, but are from ", first, " to ", last));
  if (rows.behind == Behind::nothing && last != qkv.size(0))
    throw Error(cat("ragged attention was told that nothing lies behind the rows, but they end at ",
                    last, " of ", qkv.size(0)));
}

// Computes each row separately. The host must be able to read the offsets.
at::Tensor ragged_row_by_row(const at::Tensor& qkv, const Ragged& rows, Operators operators) {
  const at::Tensor known = rows.offsets.to(at::kLong).contiguous();
  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b + 1 < known.size(0); ++b)
    lengths.push_back(known.const_data_ptr<std::int64_t>()[b + 1] -
                      known.const_data_ptr<std::int64_t>()[b]);
  lengths.push_back(qkv.size(0) - known.const_data_ptr<std::int64_t>()[known.size(0) - 1]);
  std::vector<at::Tensor> results;
  for (const at::Tensor& row : qkv.split_with_sizes(lengths)) {
    const bool is_rest = results.size() + 1 == lengths.size();
    results.push_back(
        is_rest || row.size(0) == 0
            ? at::zeros({row.size(0), row.size(2), row.size(3)}, row.options())
            : padded_attention(row.unsqueeze(0), rows.sees, {}, operators).squeeze(0));
  }
  return at::cat(results);
}

// For each place [N]: the number of its row, its index within the row, and whether it is in a row.
struct Places {
  at::Tensor row, within, is_used;
};

Places places_of(const at::Tensor& qkv, const Ragged& rows) {
  const at::Tensor offsets = rows.offsets.to(at::kLong).contiguous();
  const at::Tensor all = at::arange(qkv.size(0), offsets.options());
  const at::Tensor row = at::searchsorted(offsets, all, /*out_int32=*/false, /*right=*/true) - 1;
  const at::Tensor is_used = all.lt(offsets[-1]);
  const at::Tensor last = row.clamp_max(offsets.size(0) - 2);
  return {.row = last,
          .within = (all - offsets.index_select(0, last)).clamp_max(rows.longest - 1),
          .is_used = is_used};
}

// Copies the rows to a batch padded to `longest`, and the result back. Only padded_attention adds
// numbers, so the result is as deterministic as that function.
at::Tensor ragged_by_padding(const at::Tensor& qkv, const Ragged& rows, Operators operators) {
  const std::int64_t count = rows.offsets.size(0) - 1, slots = count * rows.longest;
  const Places places = places_of(qkv, rows);
  const at::Tensor slot =
      at::where(places.is_used, places.row * rows.longest + places.within, slots);
  std::vector<std::int64_t> sizes{slots + 1, 3, qkv.size(2), qkv.size(3)};
  const at::Tensor used =
      at::where(places.is_used.view({-1, 1, 1, 1}), qkv, at::zeros({}, qkv.options()));
  const at::Tensor padded = at::zeros(sizes, qkv.options()).index_copy(0, slot, used);
  sizes[0] = rows.longest;
  sizes.insert(sizes.begin(), count);
  const at::Tensor out = padded_attention(padded.narrow(0, 0, slots).view(sizes), rows.sees,
                                          rows.offsets.diff(), operators);
  const at::Tensor flat = at::cat({out.reshape({slots, qkv.size(2), qkv.size(3)}),
                                   at::zeros({1, qkv.size(2), qkv.size(3)}, qkv.options())});
  return flat.index_select(0, slot);
}

bool flash_serves(const at::Tensor& qkv) {
  const auto type = qkv.scalar_type();
  const std::int64_t width = qkv.size(3);
  return qkv.is_cuda() && attention_kernels_here().ragged_flash &&
         (type == at::kBFloat16 || type == at::kHalf) && width % 8 == 0 && width <= 256 &&
         at::globalContext().userEnabledFlashSDP();
}

at::Tensor flash(const at::Tensor& qkv, const at::Tensor& offsets, const Ragged& rows) {
  const auto parts = qkv.unbind(1);
  return std::get<0>(at::_flash_attention_forward(
      parts[0], parts[1], parts[2], offsets, offsets, rows.longest, rows.longest, 0.0,
      rows.sees == Sees::not_later, /*return_debug_mask=*/false));
}

at::Tensor ragged_by_flash(const at::Tensor& qkv, const Ragged& rows) {
  const at::Tensor offsets = rows.offsets.to(at::kInt).contiguous();
  if (rows.behind == Behind::nothing) return flash(qkv, offsets, rows);
  const at::Tensor is_used =
      at::arange(qkv.size(0), offsets.options()).lt(offsets[-1]).view({-1, 1, 1, 1});
  // The kernel neither reads nor writes places outside all rows. where() sets their gradient to 0.
  const at::Tensor none = at::zeros({}, qkv.options());
  const at::Tensor out = flash(at::where(is_used, qkv, none), offsets, rows);
  return at::where(is_used.squeeze(1), out, none);
}

}  // namespace

at::Tensor ragged_attention(const at::Tensor& qkv, const at::Tensor& offsets, std::int64_t longest,
                            Sees sees, Behind behind) {
  LOCKSTEP_CHECK(qkv.dim() == 4 && qkv.size(1) == 3 && offsets.device() == qkv.device());
  const Ragged rows{.offsets = offsets, .longest = longest, .sees = sees, .behind = behind};
  check_offsets(qkv, rows);
  if (qkv.numel() == 0 || offsets.size(0) == 1 || longest == 0)
    return qkv.select(1, 0).masked_fill(at::ones({}, offsets.options().dtype(at::kBool)), 0);
  const auto plain = [=](const at::Tensor& x) {
    return x.is_cpu() ? ragged_row_by_row(x, rows, Operators::plain)
                      : ragged_by_padding(x, rows, Operators::plain);
  };
  const auto fused = [=](const at::Tensor& x) {
    if (x.is_cpu()) return ragged_row_by_row(x, rows, Operators::fused);
    return flash_serves(x) ? ragged_by_flash(x, rows)
                           : ragged_by_padding(x, rows, Operators::fused);
  };
  return differentiable_twice(fused, plain, qkv);
}

}  // namespace lockstep
