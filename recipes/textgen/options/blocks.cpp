// How a stream of tokens is cut into samples.
#include "recipes/textgen/options/blocks.h"

#include <algorithm>

#include "base/check.h"
#include "plan/philox.h"
#include "recipes/textgen/options/token_file.h"

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
  Random random(seed, Stream::shift, static_cast<std::uint64_t>(epoch), 0);
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(context)));
}

std::int64_t read_block(const TokenFile& file, std::int64_t context, std::int64_t shift,
                        std::int64_t index, std::int64_t ignore, std::int64_t* inputs,
                        std::int64_t* targets) {
  const Block block = block_at(file.size(), context, shift, index);
  std::int64_t at = 0;
  for (const Run& run : {block.first, block.second}) {
    file.copy(run.begin, run.count, inputs + at);
    file.copy(run.begin + 1, run.count, targets + at);
    at += run.count;
  }
  std::fill(inputs + at, inputs + context, 0);
  std::fill(targets + at, targets + context, ignore);
  return at;
}

}  // namespace lockstep::textgen
