// Finds the prompts that samples continue.
#include "recipes/textgen/prepare/prompts.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"

namespace lockstep::textgen {

std::vector<std::string> read_prompts(const TextOptions& options, std::istream& input) {
  std::vector<std::string> prompts;
  if (!options.predict.prompt.empty()) prompts.push_back(options.predict.prompt);
  const std::string& path = options.predict.prompt_file;
  if (!path.empty()) {
    const std::string file = path == "-" ? read_stream(input, "standard input", list_bytes)
                                         : read_input(path, list_bytes);
    const std::string_view text = without_byte_order_mark(file);
    if (text.find('\0') != std::string::npos || invalid_bytes(text) * 100 > text.size())
      throw Error(cat(path == "-" ? "standard input" : path, " is not text"),
                  "give a prompt a line, in UTF-8");
    for (std::string line : split(text, '\n')) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!trim(line).empty()) prompts.push_back(line);
    }
    if (prompts.empty())
      throw Error(cat(path == "-" ? "standard input" : path, " holds no prompt"),
                  "give a prompt a line, or use predict.prompt");
  }
  if (prompts.empty()) prompts.emplace_back();
  return prompts;
}

Tokens encode_prompt(const Tokenizer& tokenizer, const std::string& prompt,
                     std::int64_t documents) {
  const std::string text = tokenizer.takes_any_bytes() ? prompt : mend_utf8(prompt);
  if (!text.empty()) return tokenizer.encode(text);
  if (documents > 1 && tokenizer.separator() >= 0)
    return {static_cast<std::uint32_t>(tokenizer.separator())};
  try {
    return tokenizer.encode("\n");
  } catch (const Error&) {  // the vocabulary has no line feed
    return {0};
  }
}

}  // namespace lockstep::textgen
