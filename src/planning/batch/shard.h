// A range of the flat buffers on which one rank works.
#pragma once

#include <cstdint>

namespace lockstep {

// Elements [begin, end) of a flat buffer. Some buffers hold only the rank's own shards, one after
// the other. In such buffers, the shard begins at `offset`.
struct Shard {
  std::int64_t begin = 0, end = 0, offset = 0;
  std::int64_t size() const { return end - begin; }
};

}  // namespace lockstep
