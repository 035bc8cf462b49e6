// Names that other programs have for options, and the options to use here instead.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

// The different meaning of a name for a command that reads a run.
struct MeaningInCommand {
  std::string command;  // "evaluate", "predict"
  std::string ours;     // see Synonym::ours
  std::string note{};   // see Synonym::note
};

struct Synonym {
  std::vector<std::string> names;  // lower case with underscores: "batch_size"
  std::string from;                // the programs that use the name: "PyTorch, Transformers"
  // The replacement: options with their values, or flags, separated by spaces. If empty, the user
  // must leave the name out. A value may contain one of these placeholders:
  //   {value}     the value that came with the name, in its form here
  //   {total}     the value times devices and accumulation ("batch.global={total}")
  //   {device}    its form for --devices ("0" for cuda:0, "all" for auto)
  //   {first}     that many devices, from the first on ("0,1" for 2)
  //   {path}      the value if it is a path rather than a switch
  //   {list}      numbers in the form of a list ("64,64,64" for (64, 64, 64) and 64x64x64)
  //   {duration}  a time in its form here ("12h" for 00:12:00:00)
  //   {kind}      a device without its number ("gpu" for cuda:1)
  //   {index}     the number of a device ("1" for cuda:1); without a number, the option is dropped
  std::string ours;
  // `ours` for values 0, no, off, none and false; empty: the same as `ours`
  std::string ours_when_off{};
  // `ours` for a command that makes a batch; empty: the same as `ours`
  std::string ours_in_batch{};
  bool none_when_off = false;  // for such "off" values, no option is needed here
  bool zero_is_index = false;  // 0 means the first device, not off
  bool means_several = false;  // the user means several devices, unless the value is off
  // a batch size on the same command line is then that of all devices together, not of each
  bool shares_batch = false;
  // Values that have another name here: "float16" and "fp16". "adamw*" matches all values that
  // begin with adamw.
  std::vector<std::pair<std::string, std::string>> values{};
  std::string note{};  // further advice, as a phrase
  // Advice for one value of the option here: {"muon", "…"}.
  std::vector<std::pair<std::string, std::string>> value_notes{};
  // Other names whose value is a folder, which contains the file that this value names:
  // {"data_dir"}.
  std::vector<std::string> folders{};
  // Other names that must be on the same command line for `ours` to apply: {"bert_model"}. If none
  // of them is, `ours_alone` applies.
  std::vector<std::string> beside{};
  std::string ours_alone{};
  std::vector<MeaningInCommand> in_command{};
  // Values that require another command than train: {"infer*", "predict"}.
  std::vector<std::pair<std::string, std::string>> commands{};
};

// An option or flag of the replacement, such as "--devices", with its value.
struct OurWord {
  std::string name, value;
  bool is_off = false;         // the typed value was off
  bool means_several = false;  // the user means several devices
  bool is_file = false;        // the value is a file, whose folder another name may give
};

// The placeholder for a value that the user did not type.
inline constexpr const char* unknown_value = "VALUE";

// A name and its value as the user typed them. The value is empty if there was none.
struct TypedName {
  std::string name, value;
};

// The sizes of a command line that values depend on; 0 = unknown.
struct TypedBatch {
  int devices = 0;
  std::int64_t accumulation = 1;
  bool makes_jobs = false;  // the command makes a batch, in which each job sees one GPU
};

// Returns "batch_size" for "--Batch-Size".
std::string plain_name(std::string_view typed);

// The synonym with that name, in any spelling; null if there is none. "batch.size" is found as
// batch_size.
const Synonym* find_synonym(std::span<const Synonym> synonyms, std::string_view typed);

// The different meaning of the name for that command; null if there is none.
const MeaningInCommand* meaning_in(const Synonym& synonym, std::string_view command);

// The replacement, for example {"batch.global", "32"}, {"batch.micro", "16"}. Empty if the user
// must leave the name out.
std::vector<OurWord> written_here(const Synonym& synonym, const std::string& value,
                                  const TypedBatch& batch);

// The value of the option `key` that replaces another program's value: for precision, "fp16"
// replaces "16-mixed". Empty if none is known.
std::string our_value(std::span<const Synonym> synonyms, std::string_view key,
                      const std::string& value);

// The advice for the synonym and for this value. May be empty.
std::string note_for_value(const Synonym& synonym, const std::string& value);

// The command that this value requires instead of train. Empty if train is right.
std::string command_of_value(const Synonym& synonym, const std::string& value);

// A table of the names, the programs that use them, the replacements and the advice.
std::string synonyms_markdown(std::span<const Synonym> synonyms);

}  // namespace lockstep
