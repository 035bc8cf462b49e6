// The names that a user typed, on the command line or in a file, and the facts about their place.
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

// The typed names, and the facts about their place.
struct TypedLine {
  std::string recipe;  // "": not known
  std::vector<TypedName> names;
  FlagsHere flags;
  std::size_t devices = 0;  // 0: nobody knows
  bool has_gpu = false;     // among them
  std::string file{};       // in which the names stand; "": on the command line
  Words faults{};           // of values of the command's own flags, phrases
};

bool is_typed_as_it_should_be(const TypedLine& line, const std::string& key);

std::string value_typed_for(const TypedLine& line, const std::string& key);

std::vector<TypedName> typed_names_of(const Words& assignments);

// The names with the group of a command that reads a run, where it takes them without:
// evaluate.shots for shots.
std::vector<TypedName> with_group(const Vocabulary& known, const std::string& group,
                                  std::vector<TypedName> names);

// A name in a table of a file, such as training.batch_size, is the name itself.
std::string without_table(const Vocabulary& known, const std::string& name);

// The names of the file that has this one, without those of its tables.
bool read_names(const Words& files, const Vocabulary& known, std::string_view key, TypedLine& line);

}  // namespace lockstep::cli
