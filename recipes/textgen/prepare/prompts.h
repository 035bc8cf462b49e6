// The prompts that samples continue.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "recipes/textgen/options/text_options.h"
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"

namespace lockstep::textgen {

// predict.prompt, then each line of predict.prompt_file ("-" = `input`) as a prompt; blank lines
// are left out. One empty prompt if there is none. Throws Error if the file cannot be read or is
// not text.
std::vector<std::string> read_prompts(const TextOptions& options, std::istream& input);

// The result is never empty. An empty prompt becomes the separator if the model was trained on
// several documents, else a line feed if the vocabulary has it, else token 0.
Tokens encode_prompt(const Tokenizer& tokenizer, const std::string& prompt, std::int64_t documents);

}  // namespace lockstep::textgen
