// What the tool asks about recipes that only a worker can load.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Prints [{"name", "summary", "options": […], "presets": […]}, …] of the loaded plugin and all
// recipes; the tool caches it.
int describe_recipes();

// arguments: FILE with {"recipe", "config", "has_gpu", "cache_dir"}. Checks the options, prepares,
// builds the recipe and its data, and prints {"facts", "extra", "keep", "memory"}.
int print_facts(const std::vector<std::string>& arguments);

}  // namespace lockstep
