// Places the shards of parameters in the buffer of an optimizer state.
#include "training/update/state_buffer.h"

#include "core/base/check.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace lockstep {

StateBuffer::StateBuffer(const ParameterStorage& storage, std::string name, std::vector<bool> has)
    : storage_(storage), name_(std::move(name)), has_(std::move(has)) {
  LOCKSTEP_CHECK(has_.size() == storage.parameters().size());
  const std::vector<std::size_t> order = storage.in_order();
  std::int64_t elements = 0;
  for (const Shard& shard : storage.own())
    for (const std::size_t i : order) {
      const std::int64_t begin = std::max(storage.places()[i].begin, shard.begin);
      const std::int64_t end = std::min(storage.places()[i].end, shard.end);
      if (!has_[i] || begin >= end) continue;
      if (!segments_.empty() && segments_.back().end == begin)
        segments_.back().end = end;
      else
        segments_.push_back({.begin = begin, .end = end, .offset = elements});
      elements += end - begin;
    }
  flat_ = at::zeros({elements}, storage.master().options());
}

// Calls function(first, last, row) for each stored range of [begin, end). row: the elements of that
// range.
template <class Function>
void StateBuffer::for_each(std::int64_t begin, std::int64_t end, const Function& function) const {
  for (const Segment& segment : segments_) {
    const std::int64_t first = std::max(begin, segment.begin), last = std::min(end, segment.end);
    if (first < last)
      function(first, last, flat_.narrow(0, segment.offset + first - segment.begin, last - first));
  }
}

bool StateBuffer::has_any(const Bucket& bucket) const {
  return std::any_of(bucket.parameters.begin(), bucket.parameters.end(),
                     [&](std::int64_t i) { return has_[static_cast<std::size_t>(i)]; });
}

bool StateBuffer::is_of_all() const {
  return std::find(has_.begin(), has_.end(), false) == has_.end() &&
         flat_.numel() == storage_.own_elements();
}

std::optional<std::int64_t> StateBuffer::place(std::size_t parameter) const {
  LOCKSTEP_CHECK(storage_.sharing() == nullptr);
  const std::int64_t offset = storage_.places()[parameter].begin;
  if (!has_[parameter]) return std::nullopt;
  for (const Segment& segment : segments_)
    if (segment.begin <= offset && offset < segment.end)
      return segment.offset + offset - segment.begin;
  return 0;  // the parameter has no elements
}

at::Tensor StateBuffer::range(std::int64_t begin, std::int64_t end) const {
  at::Tensor found;
  for_each(begin, end, [&](std::int64_t first, std::int64_t last, const at::Tensor& row) {
    if (first == begin && last == end) found = row;
  });
  LOCKSTEP_CHECK(found.defined());
  return found;
}

void StateBuffer::read(std::int64_t begin, std::int64_t end, const at::Tensor& out) const {
  out.zero_();
  for_each(begin, end, [&](std::int64_t first, std::int64_t last, const at::Tensor& row) {
    out.narrow(0, first - begin, last - first).copy_(row);
  });
}

void StateBuffer::fill(std::size_t parameter, const at::Tensor& values) const {
  const std::int64_t begin = storage_.places()[parameter].begin;
  const std::int64_t size = storage_.places()[parameter].elements;
  const bool is_whole =
      std::any_of(segments_.begin(), segments_.end(), [&](const Segment& segment) {
        return segment.begin <= begin && begin + size <= segment.end;
      });
  if (is_whole && size > 0) {
    storage_.shaped(range(begin, begin + size), parameter).copy_(values);
    return;
  }
  // A shard's border cuts the parameter, perhaps within a row.
  const at::Tensor all = at::empty({size}, values.options());  // in the storage's order
  storage_.shaped(all, parameter).copy_(values);
  for_each(begin, begin + size, [&](std::int64_t first, std::int64_t last, const at::Tensor& row) {
    row.copy_(all.narrow(0, first - begin, last - first));
  });
}

}  // namespace lockstep
