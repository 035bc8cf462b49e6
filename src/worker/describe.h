// Prints facts about recipes for the tool (`lockstep`), because only a worker can load their code.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Prints [{"name", "summary", "options": […], "presets": […], …}, …] for all recipes, including
// those of the loaded plugin. Each object also has further members, such as "metrics" and
// "predict_input". The tool caches this output. All functions in this header return the exit code.
int describe_recipes();

// arguments: FILE with the JSON object {"recipe", "config", "has_gpu", "purpose", "cache_dir",
// "run_dir"}. Checks the options and prepares the data. Unless "purpose" is "predict", also builds
// the recipe, its datasets and its model. Prints {"facts", "extra", "keep", "memory"}. If FILE has
// "prepared": true, it also has "facts" and "extra", and the data is not prepared again.
int print_facts(const std::vector<std::string>& arguments);

// arguments: FILE with {"recipe", "config", "inputs", "standard_input", "run_dir", "cache_dir"} as
// CBOR. "config" has only the recipe's options. Prints the items to predict, as to_cbor() encodes
// them.
int print_items(const std::vector<std::string>& arguments);

// arguments: FILE with {"recipe", "config", "predictions"} as CBOR. Prints the scores of the
// predictions: [{"name", "value", "unit", "lower_is_better"}, …].
int print_score(const std::vector<std::string>& arguments);

}  // namespace lockstep
