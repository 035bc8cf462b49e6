// The names that a user typed on the command line or in a file, and facts about the command.
#pragma once

#include "core/devices/device.h"
#include "tools/cli/words/foreign_names.h"
#include "tools/cli/words/vocabulary.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

using Words = std::vector<std::string>;

struct TypedLine {
  std::string recipe;  // "" if unknown
  std::vector<TypedName> names;
  FlagsHere flags;
  std::size_t devices = 0;  // number of devices; 0 if unknown
  bool has_gpu = false;     // whether a GPU is among the devices
  std::string file{};       // file that has the names; "" if they are on the command line
  Words faults{};           // phrases about faulty values of the command's own flags
};

bool is_typed_as_it_should_be(const TypedLine& line, const std::string& key);

std::string value_typed_for(const TypedLine& line, const std::string& key);

std::vector<TypedName> typed_names_of(const Words& assignments);

// Completes names that may be written without their group in a command that reads a run. For
// example, shots becomes evaluate.shots.
std::vector<TypedName> with_group(const Vocabulary& known, const std::string& group,
                                  std::vector<TypedName> names);

// Removes the name of the TOML table from a name in a file: training.batch_size becomes batch_size.
std::string without_table(const Vocabulary& known, const std::string& name);

// Finds the file that has `key`, and reads all names of that file into `line`, without their
// tables. Returns false if no file has the key.
bool read_names(const Words& files, const Vocabulary& known, std::string_view key, TypedLine& line);

}  // namespace lockstep::cli
