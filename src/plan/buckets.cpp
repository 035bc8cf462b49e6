// Arena layout and bucket ranges: arithmetic over parameter sizes.
#include "plan/buckets.h"

#include "base/check.h"

namespace lockstep {

ArenaLayout lay_out(const std::vector<std::int64_t>& sizes, std::int64_t alignment) {
  LOCKSTEP_CHECK(alignment > 0 && alignment % arena_alignment == 0);
  ArenaLayout layout;
  layout.offsets.resize(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0;) {
    LOCKSTEP_CHECK(sizes[i] >= 0);
    layout.offsets[i] = layout.elements;
    const std::int64_t padded = (sizes[i] + alignment - 1) / alignment * alignment;
    layout.elements += padded;
  }
  return layout;
}

std::vector<Bucket> cut_buckets(const ArenaLayout& layout, const std::vector<std::int64_t>& sizes,
                                std::int64_t first_bytes, std::int64_t bytes) {
  std::vector<Bucket> buckets;
  Bucket open;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    open.parameters.push_back(static_cast<std::int64_t>(i));
    open.end = i == 0 ? layout.elements : layout.offsets[i - 1];
    const std::int64_t wanted = buckets.empty() ? first_bytes : bytes;
    if ((open.end - open.begin) * 4 >= wanted || i == 0) {
      const std::int64_t next = open.end;
      buckets.push_back(std::move(open));
      open = Bucket{.begin = next, .end = next, .parameters = {}};
    }
  }
  return buckets;
}

}  // namespace lockstep
