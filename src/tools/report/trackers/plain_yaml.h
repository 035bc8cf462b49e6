// Reads settings that other programs store as YAML, such as MLflow's meta.yaml and Lightning's
// hparams.yaml.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lockstep {

// Returns the plain and quoted values of the outermost mapping ("lr: 0.1", "name: 'it''s'") as
// texts. Nested, tagged and block values are left out. Any text is accepted, and other lines are
// skipped.
std::map<std::string, std::string> plain_yaml(std::string_view text);

}  // namespace lockstep
