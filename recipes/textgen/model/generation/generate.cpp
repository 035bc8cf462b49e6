// Generates text that continues a prompt.
#include "recipes/textgen/model/generation/generate.h"

#include "core/base/check.h"
#include "recipes/textgen/model/generation/text_stream.h"

#include <limits>
#include <span>
#include <vector>

namespace lockstep::textgen {
namespace {

struct Sequence {
  std::int64_t number;
  TextStream text;
  bool ended = false;
};

// Draws the next token of a sequence and outputs its text. If the first token is the end token,
// another one is drawn, so that no sample is empty.
std::int64_t extend(Sequence& sequence, std::span<float> logits, const TokenIds& window,
                    const Decode& decode, const GenerateOptions& options, std::int64_t position) {
  const auto draw = [&] {
    return sample_token(logits, window, options.sampler, options.seed,
                        static_cast<std::uint64_t>(sequence.number),
                        static_cast<std::uint64_t>(position));
  };
  std::int64_t token = draw();
  if (position == 0 && token == options.end) {
    logits[static_cast<std::size_t>(token)] = -std::numeric_limits<float>::infinity();
    token = draw();
  }
  sequence.ended = token == options.end;
  if (!sequence.ended) {
    sequence.text.push(decode(token));
    sequence.ended = sequence.text.stopped();
  }
  return token;
}

}  // namespace

void generate(const Gpt& model, const StepContext& context, const Decode& decode,
              const TokenIds& prompt, const GenerateOptions& options, std::int64_t first,
              std::int64_t count, const TextOut& out) {
  const std::int64_t width = model.shape().vocab;
  const std::int64_t vocab = options.vocab > 0 ? options.vocab : width;
  LOCKSTEP_CHECK(vocab <= width && count > 0);
  std::vector<Sequence> sequences;
  for (std::int64_t number = first; number < first + count; ++number)
    sequences.push_back({number, TextStream(options.stop, [&out, number](const std::string& text) {
                           out(number, text);
                         })});

  IncrementalGpt reader(model, count, context);
  std::vector<TokenIds> fresh(sequences.size(), prompt);
  std::int64_t running = count;
  for (std::int64_t position = 0; position < options.tokens && running > 0; ++position) {
    const at::Tensor logits = reader.read(fresh);
    for (std::int64_t row = 0; row < count; ++row) {
      Sequence& sequence = sequences[static_cast<std::size_t>(row)];
      TokenIds& next = fresh[static_cast<std::size_t>(row)];
      next.assign(1, next.back());  // a sequence that ended still fills its row of the batch
      if (sequence.ended) continue;
      const std::span<float> own(logits.mutable_data_ptr<float>() + row * width,
                                 static_cast<std::size_t>(vocab));
      next[0] = extend(sequence, own, reader.window(row), decode, options, position);
      if (sequence.ended) --running;
    }
  }
  for (Sequence& sequence : sequences) sequence.text.finish();
}

}  // namespace lockstep::textgen
