// Writes the pieces that a model folder's tokenizer makes of texts, for dimabsa_tokens_test.py to
// compare.
//   dump-tokens FOLDER < TEXTS
// A line of TEXTS is a JSON string. For each, a line: [[id, begin, end, begins_word], …].
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "recipes/dimabsa/tokens/tokenizer.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const auto tokenizer = lockstep::dimabsa::open_tokenizer(argv[1]);
    for (std::string line; std::getline(std::cin, line);) {
      nlohmann::json pieces = nlohmann::json::array();
      for (const auto& piece : tokenizer->encode(nlohmann::json::parse(line).get<std::string>()))
        pieces.push_back({piece.id, piece.begin, piece.end, piece.begins_word ? 1 : 0});
      std::cout << pieces.dump() << '\n';
    }
  } catch (const lockstep::Error& error) {
    std::fprintf(stderr, "error: %s\nhint: %s\n", error.what(), error.hint().c_str());
    return 1;
  }
  return 0;
}
