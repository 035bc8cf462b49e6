// Copies by index, in both directions; nothing is added up but the gradients of zeros.
#include "recipes/dimabsa/encoder/padded.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <vector>

namespace lockstep::dimabsa {
namespace {

struct Found {
  at::Tensor text, place;
};

Found find_texts(const at::Tensor& offsets, std::int64_t items, std::int64_t longest) {
  const at::Tensor item = at::arange(items, offsets.options());
  const at::Tensor text =
      at::searchsorted(offsets.contiguous(), item, /*out_int32=*/false, /*right=*/true)
          .sub(1)
          .clamp_max(std::max<std::int64_t>(offsets.size(0) - 2, 0));
  const at::Tensor place =
      (item - offsets.index_select(0, text)).clamp_max(std::max<std::int64_t>(longest - 1, 0));
  return {.text = text, .place = place};
}

std::vector<std::int64_t> with_front(std::vector<std::int64_t> front, const at::Tensor& tensor,
                                     std::int64_t from) {
  for (std::int64_t d = from; d < tensor.dim(); ++d) front.push_back(tensor.size(d));
  return front;
}

}  // namespace

at::Tensor places_in_texts(const at::Tensor& offsets, std::int64_t items, std::int64_t longest) {
  return find_texts(offsets, items, longest).place;
}

PaddedTexts::PaddedTexts(const at::Tensor& offsets, std::int64_t items, std::int64_t longest)
    : texts_(offsets.size(0) - 1), longest_(longest) {
  const auto [text, place] = find_texts(offsets, items, longest);
  const at::Tensor is_used = at::arange(items, offsets.options()).lt(offsets[-1]);
  places_ = place;
  slots_ = at::where(is_used, text * longest + place, texts_ * longest);
  seen_ = at::arange(longest, offsets.options()).lt(offsets.diff().unsqueeze(1));
}

at::Tensor PaddedTexts::pad(const at::Tensor& ragged) const {
  const std::int64_t slots = texts_ * longest_;
  const at::Tensor all =
      at::zeros(with_front({slots + 1}, ragged, 1), ragged.options()).index_copy(0, slots_, ragged);
  return all.narrow(0, 0, slots).view(with_front({texts_, longest_}, ragged, 1));
}

at::Tensor PaddedTexts::unpad(const at::Tensor& padded) const {
  const std::int64_t slots = texts_ * longest_;
  const at::Tensor rows = padded.reshape(with_front({slots}, padded, 2));
  return at::cat({rows, at::zeros(with_front({1}, padded, 2), padded.options())})
      .index_select(0, slots_);
}

}  // namespace lockstep::dimabsa
