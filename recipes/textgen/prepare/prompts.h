// Reads and encodes the prompts that generated text continues.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "recipes/textgen/options/text_options.h"
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"

namespace lockstep::textgen {

// Returns predict.prompt, then each line of predict.prompt_file that is not blank. If
// predict.prompt_file is "-", the lines come from `input`. If neither option is set, returns one
// empty prompt. Throws Error if the file cannot be read or is not text. Also throws Error if
// predict.prompt_file is set, but there is no prompt.
std::vector<std::string> read_prompts(const TextOptions& options, std::istream& input);

// Returns the tokens of a prompt. There is at least one token. An empty prompt becomes the
// separator, if the model was trained on several documents and the tokenizer has a separator. If
// not, an empty prompt becomes a line feed, or token 0 if the vocabulary has no line feed.
// documents: the number of documents of the training corpus.
Tokens encode_prompt(const Tokenizer& tokenizer, const std::string& prompt, std::int64_t documents);

}  // namespace lockstep::textgen
