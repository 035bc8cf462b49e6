// The names that a user typed on the command line or in a file, and facts about where they stand.
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

// The typed names, and facts about where they stand.
struct TypedLine {
  std::string recipe;  // "": not known
  std::vector<TypedName> names;
  FlagsHere flags;
  std::size_t devices = 0;  // 0: unknown
  bool has_gpu = false;     // whether a GPU is among them
  std::string file{};       // file with the names; "": they are on the command line
  Words faults{};           // faulty values of the command's own flags, as phrases
};

bool is_typed_as_it_should_be(const TypedLine& line, const std::string& key);

std::string value_typed_for(const TypedLine& line, const std::string& key);

std::vector<TypedName> typed_names_of(const Words& assignments);

// Adds the group of a command that reads a run to names that may be written without it:
// evaluate.shots for shots.
std::vector<TypedName> with_group(const Vocabulary& known, const std::string& group,
                                  std::vector<TypedName> names);

// Removes the table from a name in a file: training.batch_size becomes batch_size.
std::string without_table(const Vocabulary& known, const std::string& name);

// Reads into `line` all names of the file that has `key`, without their tables. Returns false if no
// file has it.
bool read_names(const Words& files, const Vocabulary& known, std::string_view key, TypedLine& line);

}  // namespace lockstep::cli
