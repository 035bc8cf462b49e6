// Lockstep's words for one typed name, without regard to the rest of the line.
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

// The options that are `name` in a group, except the groups of steps: optimizer.clip for clip.
Words in_its_groups(const Vocabulary& known, const std::string& name);

bool is_own_name(const Vocabulary& known, const std::string& name);

bool is_known_name(const Vocabulary& known, const std::string& name);

// The checkpoint that a value means: "best", or "last" for every word for the newest one. "" for
// another value, such as a file.
std::string checkpoint_meant(const Synonym& synonym, const std::string& value);

// Whether a command that reads a run (evaluate or predict) takes the option. Other options are
// settings of training, which the run keeps.
bool is_for_reading(const Vocabulary& known, const std::string& group, const std::string& key);

// The option in the command's own group, or in the only step that has it: predict.threshold for
// threshold. "" if there is none, or if the command does not read a run.
std::string key_for_reading(const Vocabulary& known, const std::string& group,
                            const std::string& typed);

// The words that can be written here, with "true" for a switch without a value. If the line sets an
// option under its own name, that value stays.
std::vector<OurWord> words_that_fit(const Vocabulary& known, const TypedLine& line,
                                    std::vector<OurWord> words);

bool is_valid(const OptionInfo& option, const std::string& value);

// Lockstep's words for one name, except those of the batch, without regard to the rest of the line.
// Nothing if the name is unknown.
std::optional<std::vector<OurWord>> words_alone(const Vocabulary& known, const TypedLine& line,
                                                const TypedName& name, const TypedBatch& batch);

}  // namespace lockstep::cli
