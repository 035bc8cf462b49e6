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
  std::int64_t tokens = 256;        // largest number of generated tokens per sequence
  std::string stop;                 // a sequence ends before this text; empty: none
  std::int64_t vocab = 0;           // only tokens below this may be drawn; 0: all
  std::optional<std::int64_t> end;  // token that ends a sequence; no value: none
};

// Returns the bytes of a token.
using Decode = std::function<std::string_view(std::int64_t token)>;
// Receives the text of a sequence while it is generated. Each call passes whole characters.
using TextOut = std::function<void(std::int64_t sequence, const std::string& text)>;

// Generates `count` sequences at once that continue `prompt`, which has at least one token.
// Sequences are numbered from `first`. Random draws depend on the seed and on the sequence's
// number. So a sequence does not depend on the other sequences of the call. The repetition penalty
// applies to the tokens that the model sees (IncrementalGpt::window). If the first token drawn for
// a sequence is options.end, another token is drawn. Returns early if every sequence has ended.
void generate(const Gpt& model, const StepContext& context, const Decode& decode,
              const TokenIds& prompt, const GenerateOptions& options, std::int64_t first,
              std::int64_t count, const TextOut& out);

}  // namespace lockstep::textgen
