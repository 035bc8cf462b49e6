// The words of ours for one typed name, whatever the rest of the line says.
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

// The options that are `name` in a group other than those: optimizer.clip for clip.
Words in_its_groups(const Vocabulary& known, const std::string& name);

bool is_own_name(const Vocabulary& known, const std::string& name);

bool is_known_name(const Vocabulary& known, const std::string& name);

// "best", or "last" for all words of the newest one; "": another value, such as a file.
std::string checkpoint_meant(const Synonym& synonym, const std::string& value);

// Whether a command that reads a run, evaluate or predict, takes the option. Others are settings of
// training, which the run keeps.
bool is_for_reading(const Vocabulary& known, const std::string& group, const std::string& key);

// The option of the command's own group, or of the only step that has it: threshold as
// predict.threshold. "": there is none, or the command does not read a run.
std::string key_for_reading(const Vocabulary& known, const std::string& group,
                            const std::string& typed);

// The words that can be written here, with "true" for a switch without a value. An option that the
// line sets in its own name stays as it is there.
std::vector<OurWord> words_that_fit(const Vocabulary& known, const TypedLine& line,
                                    std::vector<OurWord> words);

bool is_valid(const OptionInfo& option, const std::string& value);

// The words of one name but those of the batch, whatever the rest of the line says; nothing where
// the name is not known.
std::optional<std::vector<OurWord>> words_alone(const Vocabulary& known, const TypedLine& line,
                                                const TypedName& name, const TypedBatch& batch);

}  // namespace lockstep::cli
