// Reads settings of other programs in YAML: MLflow's meta.yaml, Lightning's hparams.yaml.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lockstep {

// Plain and quoted values of the outermost mapping ("lr: 0.1", "name: 'it''s'"), as text. Nested,
// tagged and block values are left out. Any text is accepted; other lines are skipped.
std::map<std::string, std::string> plain_yaml(std::string_view text);

}  // namespace lockstep
