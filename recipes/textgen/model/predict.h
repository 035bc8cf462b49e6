// Prints generated text, which is the output of `lockstep predict` for a text model.
#pragma once

#include "recipes/textgen/model/generation/generate.h"
#include "recipes/textgen/options/text_options.h"
#include "training/recipe/recipe.h"

#include <cstdint>

namespace lockstep::textgen {

struct SampleSettings {
  GenerateOptions generate;
  std::int64_t count = 1;  // number of samples per prompt
};
SampleSettings sample_settings(const TextOptions& options);

// Prints samples. A sample is a prompt, a continuation by the model, and a line feed. A line "---"
// separates two samples of a prompt. The samples of a prompt are drawn in groups of up to 16. The
// first sample of a group is printed while it is drawn. The other samples of the group are printed
// afterwards. The text goes to request.out. If request.out is empty, the text is written to
// RUN/predictions/samples.txt. Reads these keys of request.extra:
//   prompts        for each prompt, a list of token ids
//   prompt_texts   the prompts as text
//   pieces         the path of the file of options/token_pieces.h; absent for synthetic tokens,
//                  which are printed as numbers
//   eot            the token that ends a document; -1: none
void predict_text(const Gpt& model, const PredictRequest& request, const SampleSettings& settings);

}  // namespace lockstep::textgen
