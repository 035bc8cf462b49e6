// Cuts a stream of tokens into samples.
#include "recipes/textgen/options/blocks.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/philox.h"

namespace lockstep::textgen {

std::int64_t sample_count(std::int64_t tokens, std::int64_t context) {
  LOCKSTEP_CHECK(context > 0);
  return tokens < 2 ? 0 : (tokens - 1 + context - 1) / context;
}

Block block_at(std::int64_t tokens, std::int64_t context, std::int64_t shift, std::int64_t index) {
  LOCKSTEP_CHECK(index >= 0 && index < sample_count(tokens, context));
  LOCKSTEP_CHECK(shift >= 0);
  const std::int64_t pairs = tokens - 1;
  const std::int64_t count = std::min(context, pairs - index * context);
  const std::int64_t begin = (shift + index * context) % pairs;
  const std::int64_t first = std::min(count, pairs - begin);
  return {.first = {begin, first}, .second = {0, count - first}};
}

std::int64_t epoch_shift(std::uint64_t seed, std::int64_t epoch, std::int64_t context,
                         bool shifting) {
  if (!shifting) return 0;
  Random random(seed, RandomStream::shift, static_cast<std::uint64_t>(epoch), 0);
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(context)));
}

}  // namespace lockstep::textgen
