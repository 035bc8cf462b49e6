// Scores cases of the recipe dimabsa: a line of JSON each on standard input, {"task", "gold",
// "predicted"}, the last two as jsonl; prints a line of JSON each, or {"error": …}.
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "recipes/dimabsa/sentences/files/reader.h"
#include "recipes/dimabsa/sentences/scores/score_list.h"

namespace {

using namespace lockstep;
using namespace lockstep::dimabsa;

nlohmann::json scores_of(const nlohmann::json& input) {
  const Task task = static_cast<Task>(input["task"].get<int>());
  const auto gold = parse_sentences(input["gold"].get<std::string>(), "gold",
                                    {.task = task, .not_in_text = NotInText::keep});
  const auto predicted =
      parse_predictions(input["predicted"].get<std::string>(), "predicted", task);
  nlohmann::json output;
  for (const Score& one : score_list(task, score(task, gold.sentences, predicted.sentences)))
    if (std::isfinite(one.value)) output[one.name] = one.value;
  return output;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    try {
      std::cout << scores_of(nlohmann::json::parse(line)).dump() << "\n";
    } catch (const Error& error) {
      std::cout << nlohmann::json{{"error", error.what()}}.dump() << "\n";
    }
  }
}
