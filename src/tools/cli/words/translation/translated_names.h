// The words of ours for all names of a line, which may mean the same or contradict each other.
#pragma once

#include "core/config/synonym.h"
#include "tools/cli/words/translation/typed_line.h"
#include "tools/cli/words/vocabulary.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace lockstep::cli {

// The typed names that are no options, in the words of Lockstep, each once.
struct Translation {
  std::vector<OurWord> words;
  Words left_out;                              // names for which there is nothing to write
  Words unknown;                               // names without a known meaning
  Words without_effect;                        // why words were taken out again, also refused ones
  Words contradictions;                        // names that mean the same, with different values
  std::map<std::string, TypedName> typed;      // for each word: the name that it stands for
  std::map<std::string, std::string> must_be;  // for words without a value: the allowed ones
  std::map<std::string, std::string> reasons;  // for names that are left out, phrases
  std::size_t devices = 0;                     // that the words are for
  std::string to_train{};                      // --devices of training, where the words count them
  bool sums_up_devices = false;                // a value is of all devices
  bool shares_batch = false;                   // so is the size that was typed
};

// "lr=1" of --lr 1, "use_multi_gpu" of a switch.
std::string name_as_typed(const TypedName& name);

// has_presets: whether the program did as the preset does, where the line leaves it open.
Translation translated_for(const Vocabulary& known, const TypedLine& line, std::size_t devices,
                           bool has_presets = true);

}  // namespace lockstep::cli
