// Writes the output of `lockstep predict` for a text model.
#include "recipes/textgen/model/predict.h"

#include "core/base/check.h"
#include "core/base/files/beneath.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/textgen/options/token_pieces.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace lockstep::textgen {
namespace {

constexpr std::int64_t kBeside = 16;  // sequences generated together; this limits the KV cache

// The text of tokens, from the pieces file. Without that file, tokens are written as numbers.
class Pieces {
 public:
  explicit Pieces(const nlohmann::json& extra) {
    if (extra.contains("pieces")) file_.emplace(extra["pieces"].get<std::string>());
  }
  std::int64_t size() const { return file_ ? file_->size() : 0; }
  std::string_view bytes(std::int64_t token) {
    if (file_) return file_->bytes(token);
    number_ = cat(' ', token);
    return number_;
  }

 private:
  std::optional<TokenPieces> file_;
  std::string number_;
};

using Out = std::function<void(const std::string&)>;

// Prints the samples [first, first + count) of one prompt, in order.
void print_samples(const Gpt& model, const StepContext& context, Pieces& pieces,
                   const TokenIds& prompt, const std::string& text, const GenerateOptions& options,
                   std::int64_t first, std::int64_t count, const Out& out) {
  std::vector<std::string> later(static_cast<std::size_t>(count));
  if (first > 0) out("---\n");
  out(text);
  generate(
      model, context, [&](std::int64_t token) { return pieces.bytes(token); }, prompt, options,
      first, count,
      [&](std::int64_t sequence, const std::string& part) {
        if (sequence == first)
          out(part);
        else
          later[static_cast<std::size_t>(sequence - first)] += part;
      });
  out("\n");
  for (std::size_t i = 1; i < later.size(); ++i) out(cat("---\n", text, later[i], "\n"));
}

void print_all(const Gpt& model, const PredictRequest& request, const SampleSettings& settings,
               const Out& out) {
  const StepContext context = prediction_context(request);
  const nlohmann::json& extra = request.extra;
  Pieces pieces(extra);
  GenerateOptions options = settings.generate;
  options.vocab = pieces.size();
  if (const auto end = extra.value("eot", std::int64_t{-1}); end >= 0) options.end = end;
  const auto prompts = extra.at("prompts").get<std::vector<TokenIds>>();
  const auto texts = extra.at("prompt_texts").get<std::vector<std::string>>();
  LOCKSTEP_CHECK(prompts.size() == texts.size());
  std::int64_t number = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i)
    for (std::int64_t left = settings.count; left > 0;) {
      const std::int64_t now = std::min(left, kBeside);
      print_samples(model, context, pieces, prompts[i], texts[i], options, number, now, out);
      number += now;
      left -= now;
    }
}

}  // namespace

SampleSettings sample_settings(const TextOptions& options) {
  const auto& predict = options.predict;
  return {.generate = {.sampler = {.temperature = predict.temperature,
                                   .top_k = predict.top_k,
                                   .top_p = predict.top_p,
                                   .repetition_penalty = predict.repetition_penalty},
                       .seed = static_cast<std::uint64_t>(predict.seed),
                       .tokens = predict.tokens,
                       .stop = predict.stop},
          .count = predict.count};
}

void predict_text(const Gpt& model, const PredictRequest& request, const SampleSettings& settings) {
  if (request.out) return print_all(model, request, settings, request.out);
  std::string text;
  print_all(model, request, settings, [&](const std::string& part) { text += part; });
  const Beneath run(request.run_dir);
  if (!run.make_folder("predictions")) run.fail("create folder", "predictions", errno);
  write_file_atomic(run, "predictions/samples.txt", text);
}

}  // namespace lockstep::textgen
