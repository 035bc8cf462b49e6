// Lockstep's words for all names of a line. These names may mean the same, or contradict each
// other.
#pragma once

#include "core/config/synonym.h"
#include "tools/cli/words/translation/typed_line.h"
#include "tools/cli/words/vocabulary.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace lockstep::cli {

// The typed names that are no options, in Lockstep's words, each once.
struct Translation {
  std::vector<OurWord> words;
  Words left_out;                              // names for which there is nothing to write
  Words unknown;                               // names without a known meaning
  Words without_effect;                        // why words were removed again, also refused ones
  Words contradictions;                        // names that mean the same, with different values
  std::map<std::string, TypedName> typed;      // for each word: the name that it stands for
  std::map<std::string, std::string> must_be;  // for words without a value: the allowed ones
  // for names that are left out: the reasons, as phrases
  std::map<std::string, std::string> reasons;
  std::size_t devices = 0;  // number of devices for which the words are
  // --devices of training, if the words count its devices
  std::string to_train{};
  bool sums_up_devices = false;  // a value is for all devices together
  // the typed batch size is also for all devices together
  bool shares_batch = false;
};

// "lr=1" for --lr 1, "use_multi_gpu" for a switch.
std::string name_as_typed(const TypedName& name);

// has_presets: if the line leaves something open, whether the program did as the preset does.
Translation translated_for(const Vocabulary& known, const TypedLine& line, std::size_t devices,
                           bool has_presets = true);

}  // namespace lockstep::cli
