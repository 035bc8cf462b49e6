// Reading token after token gives what one pass over all of them gives.
#include "recipes/textgen/model/generation/incremental.h"

#include "tests/unit/textgen-model/tiny.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <numeric>

namespace lockstep::textgen {
namespace {

// Logits f32 [vocab] after the last of `tokens`, in one pass.
at::Tensor whole_pass(const Gpt& model, const TokenIds& tokens) {
  const at::NoGradGuard no_grad;
  const at::Tensor row = at::tensor(tokens, at::kLong).unsqueeze(0);
  return model.logits(model.hidden(row, quiet()))[0][-1];
}

double difference(const at::Tensor& a, const at::Tensor& b) {
  return a.sub(b).abs().max().item<double>();
}

TokenIds pattern(std::int64_t count, std::int64_t salt) {
  const at::Tensor tokens = some_tokens(1, count, 11, salt);
  const std::int64_t* data = tokens.const_data_ptr<std::int64_t>();
  return {data, data + count};
}

TEST(IncrementalGpt, AgreesWithTheWholePassForAnyCut) {
  Gpt model(tiny_shape(), 1);
  const TokenIds tokens = pattern(6, 3);
  for (std::int64_t first = 1; first <= 6; ++first)
    for (std::int64_t then = 1; then <= 3; ++then) {
      IncrementalGpt reader(model, 1, quiet());
      at::Tensor logits = reader.read({TokenIds(tokens.begin(), tokens.begin() + first)});
      EXPECT_LT(difference(logits[0], whole_pass(model, {tokens.begin(), tokens.begin() + first})),
                1e-4);
      for (std::int64_t at = first; at < 6;) {
        const std::int64_t end = std::min<std::int64_t>(at + then, 6);
        logits = reader.read({TokenIds(tokens.begin() + at, tokens.begin() + end)});
        at = end;
        EXPECT_LT(difference(logits[0], whole_pass(model, {tokens.begin(), tokens.begin() + at})),
                  1e-4)
            << first << " then " << then << " at " << at;
      }
    }
}

TEST(IncrementalGpt, KeepsItsRowsApart) {
  Gpt model(tiny_shape(), 1);
  IncrementalGpt reader(model, 3, quiet());
  std::vector<TokenIds> rows = {pattern(4, 1), pattern(4, 2), pattern(4, 7)};
  reader.read(rows);
  const at::Tensor logits = reader.read({{1}, {2}, {3}});
  for (std::int64_t row = 0; row < 3; ++row) {
    rows[static_cast<std::size_t>(row)].push_back(row + 1);
    EXPECT_LT(difference(logits[row], whole_pass(model, rows[static_cast<std::size_t>(row)])),
              1e-4);
  }
}

TEST(IncrementalGpt, SlidesTheWindowByHalfAContextOnceFull) {
  Gpt model(tiny_shape(), 1);  // context 6
  IncrementalGpt reader(model, 1, quiet());
  TokenIds all = pattern(6, 5), window = all;
  reader.read({all});
  for (std::int64_t token = 0; token < 10; ++token) {
    all.push_back(token);
    window.push_back(token);
    if (window.size() > 6) window.erase(window.begin(), window.end() - 3);
    const at::Tensor logits = reader.read({{token}});
    EXPECT_EQ(reader.window(0), window);
    EXPECT_LT(difference(logits[0], whole_pass(model, window)), 1e-4) << token;
  }
}

TEST(IncrementalGpt, ReadsTheLastContextOfALongPrompt) {
  Gpt model(tiny_shape(), 1);
  IncrementalGpt reader(model, 1, quiet());
  const TokenIds tokens = pattern(20, 2), last(tokens.end() - 6, tokens.end());
  EXPECT_LT(difference(reader.read({tokens})[0], whole_pass(model, last)), 1e-4);
  EXPECT_EQ(reader.window(0), last);
}

TEST(IncrementalGpt, WorksWithAContextOfOneToken) {
  GptShape shape = tiny_shape();
  shape.context = 1;
  Gpt model(shape, 1);
  IncrementalGpt reader(model, 1, quiet());
  reader.read({{4, 5}});
  EXPECT_LT(difference(reader.read({{3}})[0], whole_pass(model, {3})), 1e-5);
}

}  // namespace
}  // namespace lockstep::textgen
