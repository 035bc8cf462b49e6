#include "tools/cli/run_root.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/read_toml.h"
#include "planning/options/train_options.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep::cli {
std::optional<nlohmann::json> option_given(const Parsed& parsed, const std::string& key) {
  std::optional<nlohmann::json> value;
  for (const std::string& file : parsed.all("--config")) {
    if (file.empty()) continue;  // `runs --config` is a flag without a value
    for (const detail::TomlEntry& entry : detail::read_toml(file))
      if (entry.key == key) value = entry.value;
  }
  for (const std::string& word : parsed.assignments)
    if (word.starts_with(key + "=")) value = word.substr(key.size() + 1);
  return value;
}

std::string run_root(const Parsed& parsed) {
  const std::optional<nlohmann::json> given = option_given(parsed, "run.root");
  return given && given->is_string() ? given->get<std::string>() : TrainOptions().run.root;
}

std::string recipe_of_named_run(const std::vector<std::string>& words) {
  constexpr std::string_view root_key = "run.root=";
  std::string root = TrainOptions().run.root;
  for (const std::string& word : words)
    if (word.starts_with(root_key)) root = word.substr(root_key.size());
  for (const std::string& word : words) {
    if (word.starts_with('-') || is_assignment(word)) continue;
    try {
      return text_or(RunDir::open(word, root).record(), "recipe", "");
    } catch (const Error&) {  // the word is a flag's value, or not a run
    }
  }
  return "";
}

TriedFlag tried_root() { return {"--root", "write run.root=DIR, as on every command"}; }

RunDir operand_run(const Parsed& parsed) {
  return RunDir::open(parsed.positionals.at(0), run_root(parsed));
}

}  // namespace lockstep::cli
