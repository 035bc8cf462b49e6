// Answers the tool's questions about recipes that only a worker can load.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Prints [{"name", "summary", "options": […], "presets": […], …}, …] for all recipes, including
// those of the loaded plugin. Each object also has further members, such as "metrics" and
// "predict_input". The tool caches this output.
int describe_recipes();

// arguments: FILE with {"recipe", "config", "has_gpu", "purpose", "cache_dir", "run_dir"}. Checks
// the options and prepares the data. Unless the purpose is to predict, also builds the recipe and
// its datasets. Prints {"facts", "extra", "keep", "memory"}. A file with "prepared": true also has
// "facts" and "extra"; the data is then not prepared again.
int print_facts(const std::vector<std::string>& arguments);

// arguments: FILE of CBOR with {"recipe", "config", "inputs", "standard_input", "run_dir",
// "cache_dir"}. config holds only the recipe's options. Prints the items to predict, as to_cbor()
// encodes them.
int print_items(const std::vector<std::string>& arguments);

// arguments: FILE of CBOR with {"recipe", "config", "predictions"}. Prints [{"name", "value",
// "unit", "lower_is_better"}, …].
int print_score(const std::vector<std::string>& arguments);

}  // namespace lockstep
