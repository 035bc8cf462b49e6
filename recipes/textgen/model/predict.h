// The output of `lockstep predict` for a text model.
#pragma once

#include "recipes/textgen/model/generation/generate.h"
#include "recipes/textgen/options/text_options.h"
#include "training/recipe/recipe.h"

#include <cstdint>

namespace lockstep::textgen {

struct SampleSettings {
  GenerateOptions generate;
  std::int64_t count = 1;  // sequences per prompt
};
SampleSettings sample_settings(const TextOptions& options);

// Prints each prompt with the model's continuation and a line feed, and a line "---" between two
// samples. The first sample of a prompt is printed as it is drawn. The others are drawn at the same
// time, and printed completely afterwards. Without request.out everything goes to
// RUN/predictions/samples.txt. Reads from request.extra: prompts (lists of token ids),
// prompt_texts, pieces (file of options/token_pieces.h; absent for synthetic tokens, which print as
// numbers), eot (-1 = none).
void predict_text(const Gpt& model, const PredictRequest& request, const SampleSettings& settings);

}  // namespace lockstep::textgen
