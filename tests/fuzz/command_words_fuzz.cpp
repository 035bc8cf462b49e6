// A command in one text, as `lockstep abtest` takes it. Its words, quoted again, are the same
// words.
#include "fuzz.h"

#include <string>
#include <vector>

#include "tools/cli/words/command_words.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  std::vector<std::string> words;
  if (!fuzz::accepts([&] { words = cli::command_words(fuzz::text_of(data, size), "the command"); }))
    return 0;
  std::string again;
  for (const std::string& word : words) {
    again += " '";
    for (const char c : word) again += c == '\'' ? std::string("'\\''") : std::string(1, c);
    again += "'";
  }
  LOCKSTEP_CHECK(!words.empty() && cli::command_words(again, "the command") == words);
  return 0;
}
