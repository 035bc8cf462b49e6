// Translates one typed name into Lockstep's options and flags, without the rest of the line.
#pragma once

#include "core/config/synonym.h"
#include "tools/cli/words/translation/typed_line.h"
#include "tools/cli/words/vocabulary.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

inline constexpr const char* first_weights = "init.from";

bool is_flag_of(const FlagsHere& flags, const std::string& name);

// Returns the options whose name within a group is `name`, such as optimizer.clip for clip. Options
// of predict, evaluate and score are left out.
Words in_its_groups(const Vocabulary& known, const std::string& name);

bool is_own_name(const Vocabulary& known, const std::string& name);

bool is_known_name(const Vocabulary& known, const std::string& name);

// Returns the checkpoint that a value names: "best", or "last" for every word that means the
// newest. Returns "" for any other value, such as a file.
std::string checkpoint_meant(const Synonym& synonym, const std::string& value);

// Whether a command that reads a run accepts the option. group: "evaluate" or "predict". Other
// options are settings of training, which the run keeps.
bool is_for_reading(const Vocabulary& known, const std::string& group, const std::string& key);

// Returns the option for a name without its group, such as predict.threshold for threshold. The
// option is in the command's own group, or else in the only other group (predict, evaluate or
// score) that has it. Returns "" if there is no such option, or if the command does not read a run.
std::string key_for_reading(const Vocabulary& known, const std::string& group,
                            const std::string& typed);

// Returns `words` without those that the command does not accept. A switch without a value gets
// "true". Words for options that the line also sets by their own names are removed.
std::vector<OurWord> words_that_fit(const Vocabulary& known, const TypedLine& line,
                                    std::vector<OurWord> words);

bool is_valid(const OptionInfo& option, const std::string& value);

// Returns the options and flags of Lockstep that one name means. Batch sizes are not combined with
// other names of the line. Returns nothing if the name is unknown.
std::optional<std::vector<OurWord>> words_alone(const Vocabulary& known, const TypedLine& line,
                                                const TypedName& name, const TypedBatch& batch);

}  // namespace lockstep::cli
