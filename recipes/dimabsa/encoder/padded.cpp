// Copies between packed and padded texts by index. No index occurs twice. Backward thus adds each
// gradient to a zero, and the order of additions does not matter.
#include "recipes/dimabsa/encoder/padded.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/zeros.h>

#include <vector>

namespace lockstep::dimabsa {
namespace {

struct Found {
  at::Tensor text, place;
};

Found find_texts(const at::Tensor& offsets, std::int64_t items) {
  const at::Tensor item = at::arange(items, offsets.options());
  const at::Tensor text =
      at::searchsorted(offsets.contiguous(), item, /*out_int32=*/false, /*right=*/true).sub(1);
  return {.text = text, .place = item - offsets.index_select(0, text)};
}

std::vector<std::int64_t> with_front(std::vector<std::int64_t> front, const at::Tensor& tensor,
                                     std::int64_t from) {
  for (std::int64_t d = from; d < tensor.dim(); ++d) front.push_back(tensor.size(d));
  return front;
}

}  // namespace

at::Tensor places_in_texts(const at::Tensor& offsets, std::int64_t items) {
  return find_texts(offsets, items).place;
}

PaddedTexts::PaddedTexts(const at::Tensor& offsets, std::int64_t items, std::int64_t longest)
    : texts_(offsets.size(0) - 1), longest_(longest) {
  const auto [text, place] = find_texts(offsets, items);
  places_ = place;
  slots_ = text * longest + place;
  seen_ = at::arange(longest, offsets.options()).lt(offsets.diff().unsqueeze(1));
}

at::Tensor PaddedTexts::pad(const at::Tensor& ragged) const {
  return at::zeros(with_front({texts_ * longest_}, ragged, 1), ragged.options())
      .index_copy(0, slots_, ragged)
      .view(with_front({texts_, longest_}, ragged, 1));
}

at::Tensor PaddedTexts::unpad(const at::Tensor& padded) const {
  return padded.reshape(with_front({texts_ * longest_}, padded, 2)).index_select(0, slots_);
}

}  // namespace lockstep::dimabsa
