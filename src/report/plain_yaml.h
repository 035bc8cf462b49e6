// Settings of other programs in YAML: MLflow's meta.yaml, Lightning's hparams.yaml.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lockstep {

// Plain and quoted values of the outermost mapping ("lr: 0.1", "name: 'it''s'"), as text; what is
// nested, tagged or in a block is left out. Any text is taken; what is no such line is skipped.
std::map<std::string, std::string> plain_yaml(std::string_view text);

}  // namespace lockstep
