// Draws the next token from logits, with temperature, top-k, top-p and a repetition penalty.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::textgen {

struct SamplerOptions {
  double temperature = 1;  // 0: always the most likely token
  std::int64_t top_k = 0;  // only the k most likely tokens may be drawn; 0: all
  // only the most likely tokens may be drawn, until together they have this probability
  double top_p = 1;
  double repetition_penalty = 1;  // above 1, tokens that occurred become less likely
};

struct Candidate {
  std::int64_t token = 0;
  double probability = 0;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// Returns the tokens that may be drawn, in descending order of probability. Equally likely tokens
// are in ascending order. The probabilities add up to 1. They are computed in these steps:
//   1. Repetition penalty (Keskar et al., CTRL, 2019). For each token in `history`, a positive
//      logit is divided by the penalty, and a negative one is multiplied by it. A token is changed
//      once, however often it occurred.
//   2. Division by the temperature. With temperature 0, only the most likely token stays.
//   3. Top-k. Only the k most likely tokens stay.
//   4. Top-p. Only the most likely tokens stay, up to the one with which their sum reaches top_p.
// Tokens with a logit of NaN or -inf are never candidates. Throws Error if all tokens have such a
// logit.
std::vector<Candidate> candidates(std::span<const float> logits,
                                  std::span<const std::int64_t> history,
                                  const SamplerOptions& options);

// Draws a candidate by the probabilities, and returns its token. u: a uniform draw from [0, 1).
std::int64_t pick(std::span<const Candidate> candidates, double u);

// Draws the token at `position` of a sequence. This is a pure function of its arguments. history:
// the tokens for the repetition penalty. sequence: the number of the sequence.
std::int64_t sample_token(std::span<const float> logits, std::span<const std::int64_t> history,
                          const SamplerOptions& options, std::uint64_t seed, std::uint64_t sequence,
                          std::uint64_t position);

}  // namespace lockstep::textgen
