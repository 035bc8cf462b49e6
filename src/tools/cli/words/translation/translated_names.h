// Translates all names of other programs on a line. Several names may mean the same setting, or
// contradict each other.
#pragma once

#include "core/config/synonym.h"
#include "tools/cli/words/translation/typed_line.h"
#include "tools/cli/words/vocabulary.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace lockstep::cli {

// The translation of the typed names that are not options of Lockstep. Each translated word occurs
// once.
struct Translation {
  std::vector<OurWord> words;
  Words left_out;  // names that need no option or flag of Lockstep
  Words unknown;   // names whose meaning is unknown
  // reasons for words that were removed because they have no effect or are refused
  Words without_effect;
  Words contradictions;                    // names of one setting with different values
  std::map<std::string, TypedName> typed;  // for each word, the typed name that it translates
  // for words whose value is still open, the allowed values
  std::map<std::string, std::string> must_be;
  // for names in left_out, the reasons as phrases
  std::map<std::string, std::string> reasons;
  std::size_t devices = 0;  // number of devices for which the words were made
  // The value of --devices for training. Set only if this command takes a number of devices
  // instead.
  std::string to_train{};
  bool sums_up_devices = false;  // whether a value was computed from the number of devices
  // whether the typed batch size is for all devices together, not for each device
  bool shares_batch = false;
};

// Returns "lr=1" for --lr 1, and "use_multi_gpu" for a switch.
std::string name_as_typed(const TypedName& name);

// has_presets: whether the accumulation of the preset is used if the line names no accumulation. If
// false, 1 is used.
Translation translated_for(const Vocabulary& known, const TypedLine& line, std::size_t devices,
                           bool has_presets = true);

}  // namespace lockstep::cli
