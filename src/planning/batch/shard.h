// Which elements of the flat buffers one rank works on where the ranks share work.
#pragma once

#include <cstdint>

namespace lockstep {

// Elements [begin, end) of a flat buffer. They begin at `offset` in buffers that hold the rank's
// own shards only, one behind the other.
struct Shard {
  std::int64_t begin = 0, end = 0, offset = 0;
  std::int64_t size() const { return end - begin; }
};

}  // namespace lockstep
