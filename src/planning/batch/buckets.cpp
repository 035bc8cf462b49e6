// Computes the layout of parameters and the ranges of buckets from parameter sizes.
#include "planning/batch/buckets.h"

#include "core/base/check.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

ArenaLayout lay_out(const std::vector<std::int64_t>& sizes, std::int64_t alignment) {
  LOCKSTEP_CHECK(alignment > 0 && alignment % arena_alignment == 0);
  ArenaLayout layout;
  layout.offsets.resize(sizes.size());
  layout.ends.resize(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0;) {
    LOCKSTEP_CHECK(sizes[i] >= 0);
    layout.offsets[i] = layout.elements;
    const std::int64_t padded = (sizes[i] + alignment - 1) / alignment * alignment;
    layout.elements += padded;
    layout.ends[i] = layout.elements;
  }
  return layout;
}

namespace {

// By registration index: whether a bucket must end with this parameter, so that the last buckets
// are small.
std::vector<bool> ends_before_the_last(const ArenaLayout& layout, std::int64_t bytes) {
  std::vector<bool> ends(layout.offsets.size());
  std::int64_t end = layout.elements;
  std::int64_t wanted = smallest_bucket_bytes;
  for (std::size_t i = 0; i + 1 < ends.size() && wanted < bytes; ++i) {
    if ((end - layout.offsets[i]) * 4 < wanted) continue;
    ends[i + 1] = true;
    end = layout.offsets[i];
    wanted *= 2;
  }
  return ends;
}

}  // namespace

std::vector<Bucket> cut_buckets(const ArenaLayout& layout, const std::vector<std::int64_t>& sizes,
                                std::int64_t bytes) {
  const std::vector<bool> ends = ends_before_the_last(layout, bytes);
  std::vector<Bucket> buckets;
  Bucket open;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    open.parameters.push_back(static_cast<std::int64_t>(i));
    open.end = layout.ends[i];
    const std::int64_t wanted = buckets.empty() ? smallest_bucket_bytes : bytes;
    if ((open.end - open.begin) * 4 >= wanted || ends[i] || i == 0) {
      const std::int64_t next = open.end;
      buckets.push_back(std::move(open));
      open = Bucket{.begin = next, .end = next, .parameters = {}};
    }
  }
  return buckets;
}

LinkSpeed fit_link_speed(double small_bytes, double small_s, double large_bytes, double large_s) {
  LOCKSTEP_CHECK(small_bytes > 0 && small_bytes < large_bytes && small_s > 0 && large_s > 0);
  if (large_s <= small_s) return {.latency_s = small_s, .bytes_per_s = large_bytes / large_s};
  const double bytes_per_s = (large_bytes - small_bytes) / (large_s - small_s);
  return {.latency_s = std::max(0.0, small_s - small_bytes / bytes_per_s),
          .bytes_per_s = bytes_per_s};
}

std::int64_t best_bucket_bytes(const LinkSpeed& link, std::int64_t gradient_bytes) {
  const auto all = static_cast<double>(std::max(gradient_bytes, smallest_bucket_bytes));
  const double best = std::sqrt(all * link.latency_s * link.bytes_per_s);
  return static_cast<std::int64_t>(
      std::clamp(best, static_cast<double>(smallest_bucket_bytes), all));
}

}  // namespace lockstep
