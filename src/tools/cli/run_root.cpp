#include "tools/cli/run_root.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/read_toml.h"
#include "planning/options/train_options.h"

namespace lockstep::cli {
std::optional<nlohmann::json> option_given(const Parsed& parsed, const std::string& key) {
  std::optional<nlohmann::json> value;
  for (const std::string& file : parsed.all("--config")) {
    if (file.empty()) continue;  // `runs --config` is a switch
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

TriedFlag tried_root() { return {"--root", "write run.root=DIR, as on every command"}; }

RunDir operand_run(const Parsed& parsed) {
  return RunDir::open(parsed.positionals.at(0), run_root(parsed));
}

}  // namespace lockstep::cli
