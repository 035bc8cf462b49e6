// The elements of the flat buffers that one rank works on when ranks share work.
#pragma once

#include <cstdint>

namespace lockstep {

// Elements [begin, end) of a flat buffer. In buffers that hold only the rank's own shards, one
// after the other, they begin at `offset`.
struct Shard {
  std::int64_t begin = 0, end = 0, offset = 0;
  std::int64_t size() const { return end - begin; }
};

}  // namespace lockstep
