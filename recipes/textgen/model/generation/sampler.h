// Chooses the next token from logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::textgen {

struct SamplerOptions {
  double temperature = 1;         // 0: always the most likely token
  std::int64_t top_k = 0;         // only the k most likely tokens; 0 = all
  double top_p = 1;               // only the most likely tokens that together have this probability
  double repetition_penalty = 1;  // above 1: tokens that occurred already become less likely
};

struct Candidate {
  std::int64_t token = 0;
  double probability = 0;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// Returns the tokens that may be drawn, the most likely first (among equal ones, the lower token),
// with probabilities that add up to 1. First, the logit of each token in `history` is divided by
// the repetition penalty if it is positive, else multiplied by it. This happens once, however often
// the token occurred (Keskar et al., CTRL, 2019). Then come division by temperature, top-k, and
// top-p, which keeps the token that crosses the limit. Temperature 0 leaves one candidate. NaN and
// -inf are never candidates; if there is nothing else, throws Error.
std::vector<Candidate> candidates(std::span<const float> logits,
                                  std::span<const std::int64_t> history,
                                  const SamplerOptions& options);

// Draws one of the candidates with u in [0, 1).
std::int64_t pick(std::span<const Candidate> candidates, double u);

// Draws a token for place `position` of sequence number `sequence`: a pure function of its
// arguments.
std::int64_t sample_token(std::span<const float> logits, std::span<const std::int64_t> history,
                          const SamplerOptions& options, std::uint64_t seed, std::uint64_t sequence,
                          std::uint64_t position);

}  // namespace lockstep::textgen
