// Gathers numbers by a sum over ranks. Each number is 0 except on the rank that holds it, so the
// sum is that number. Bits are summed as integers, so they are kept exactly. Unlike an all-gather,
// this needs no padding if shares have different sizes.
#include "training/distributed/gather_on_host.h"

#include "core/base/check.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>

namespace lockstep {
namespace {

constexpr std::int64_t word = 8;

// Returns the sizes of all ranks, i64 [ranks].
std::vector<std::int64_t> sizes_of_ranks(std::int64_t own, ProcessGroup& group) {
  at::Tensor sizes = at::zeros({group.size()}, at::kLong);
  auto* const first = sizes.mutable_data_ptr<std::int64_t>();
  first[group.rank()] = own;
  group.all_reduce_on_host(sizes)->wait();
  return {first, first + group.size()};
}

}  // namespace

at::Tensor gather_on_host(const at::Tensor& own, std::int64_t begin, std::int64_t count,
                          ProcessGroup& group, std::int64_t piece_bytes) {
  LOCKSTEP_CHECK(own.is_cpu() && own.element_size() == word && own.is_contiguous());
  LOCKSTEP_CHECK(begin >= 0 && begin + own.numel() <= count);
  if (group.size() == 1) return own;
  at::Tensor all = at::zeros({count}, own.options());
  all.narrow(0, begin, own.numel()).copy_(own);
  const at::Tensor words = all.view(at::kLong);
  const std::int64_t piece = std::max<std::int64_t>(piece_bytes / word, 1);
  for (std::int64_t at = 0; at < count; at += piece)
    group.all_reduce_on_host(words.narrow(0, at, std::min(piece, count - at)))->wait();
  return all;
}

std::vector<std::string> collect_on_host(const std::string& own, ProcessGroup& group,
                                         std::int64_t piece_bytes) {
  if (group.size() == 1) return {own};
  std::vector<std::string> texts;
  const std::vector<std::int64_t> sizes = sizes_of_ranks(std::ssize(own), group);
  const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  at::Tensor piece = at::zeros({(std::min(piece_bytes, largest) + word - 1) / word}, at::kLong);
  char* const bytes = static_cast<char*>(piece.mutable_data_ptr());
  const std::int64_t room = piece.numel() * word;
  for (int rank = 0; rank < group.size(); ++rank) {
    const std::int64_t size = sizes[static_cast<std::size_t>(rank)];
    if (group.rank() == 0) texts.emplace_back();
    for (std::int64_t at = 0; at < size; at += room) {
      const auto length = static_cast<std::size_t>(std::min(room, size - at));
      piece.zero_();
      if (group.rank() == rank) std::memcpy(bytes, own.data() + at, length);
      group.all_reduce_on_host(piece)->wait();
      if (group.rank() == 0) texts.back().append(bytes, length);
    }
  }
  return texts;
}

}  // namespace lockstep
