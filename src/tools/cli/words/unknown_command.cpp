#include "tools/cli/words/unknown_command.h"

#include "core/base/text/text.h"
#include "core/config/synonym.h"

#include <map>

namespace lockstep::cli {
namespace {

constexpr const char* what_predicts = "lockstep predict RUN INPUT makes outputs";
constexpr const char* what_evaluates = "lockstep evaluate RUN computes validation metrics";

std::string command_of_others(const std::string& word) {
  static const std::map<std::string, std::string> all = {
      {"inference", what_predicts},
      {"infer", what_predicts},
      {"prediction", what_predicts},
      {"generate", what_predicts},
      {"sample", what_predicts},
      {"run",
       "lockstep runs lists runs; lockstep train RECIPE trains; lockstep launch PROGRAM runs a "
       "script of yours on every GPU"},
      {"eval", what_evaluates},
      {"evaluation", what_evaluates},
      {"val", what_evaluates},
      {"validate", what_evaluates},
      {"validation", what_evaluates},
      {"test", cat(what_evaluates, "; ", what_predicts)},
      {"fit", "lockstep train RECIPE trains"},
      {"finetune", "lockstep train RECIPE trains"}};
  const auto found = all.find(plain_name(word));
  return found == all.end() ? "" : found->second;
}

}  // namespace

Error unknown_command(const std::vector<Command>& commands, const std::string& word) {
  std::string hint = command_of_others(word);
  std::vector<std::string> names;
  for (const Command& command : commands)
    if (!command.hidden) names.push_back(command.name);
  if (const std::string near = nearest(word, names); hint.empty() && !near.empty())
    hint = cat("did you mean lockstep ", near, "?");
  return Error(cat("there is no command ", word), hint.empty() ? "see lockstep --help" : hint);
}

}  // namespace lockstep::cli
