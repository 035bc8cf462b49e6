// Answers to the tool about recipes that only a worker can load.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Prints [{"name", "summary", "options": […], "presets": […]}, …] for the loaded plugin and all
// recipes. The tool caches this output.
int describe_recipes();

// arguments: FILE with {"recipe", "config", "has_gpu", "cache_dir"}. Checks the options, prepares
// the data, builds the recipe and its datasets, and prints {"facts", "extra", "keep", "memory"}.
int print_facts(const std::vector<std::string>& arguments);

// arguments: FILE of CBOR with {"recipe", "config", "inputs", "standard_input", "run_dir",
// "cache_dir"}. config holds only the recipe's options. Prints the items to predict, in the format
// of to_cbor.
int print_items(const std::vector<std::string>& arguments);

// arguments: FILE of CBOR with {"recipe", "config", "predictions"}. Prints [{"name", "value",
// "unit", "lower_is_better"}, …].
int print_score(const std::vector<std::string>& arguments);

}  // namespace lockstep
