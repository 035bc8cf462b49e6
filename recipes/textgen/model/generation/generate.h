// Generates text that continues a prompt.
#pragma once

#include "recipes/textgen/model/generation/incremental.h"
#include "recipes/textgen/model/generation/sampler.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::textgen {

struct GenerateOptions {
  SamplerOptions sampler;
  std::uint64_t seed = 1;
  std::int64_t tokens = 256;        // most tokens of a sequence
  std::string stop;                 // a sequence ends before this text; empty: never
  std::int64_t vocab = 0;           // tokens below this may be drawn; 0 = all
  std::optional<std::int64_t> end;  // the token that ends a sequence, e.g. the end of a document
};

// The bytes of a token.
using Decode = std::function<std::string_view(std::int64_t token)>;
// Receives text of a sequence as it is generated, in whole characters.
using TextOut = std::function<void(std::int64_t sequence, const std::string& text)>;

// Continues `prompt` (at least one token) in `count` sequences at once, numbered from `first`. The
// number is part of the random draws. So a sequence is the same whichever others are generated with
// it. The repetition penalty applies to tokens in the model's window. Stops early once every
// sequence has ended.
void generate(const Gpt& model, const StepContext& context, const Decode& decode,
              const TokenIds& prompt, const GenerateOptions& options, std::int64_t first,
              std::int64_t count, const TextOut& out);

}  // namespace lockstep::textgen
