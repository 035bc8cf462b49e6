// Names that other programs use for their options, and the options of Lockstep to use instead.
// Error messages suggest these when a user types such a name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

// The meaning of a name for a command that reads a run, if it differs from the meaning for `train`.
struct MeaningInCommand {
  std::string command;  // "evaluate", "predict"
  std::string ours;     // see Synonym::ours
  std::string note{};   // see Synonym::note
};

struct Synonym {
  std::vector<std::string> names;  // lower case with underscores: "batch_size"
  std::string from;                // the programs that use these names: "PyTorch, Transformers"
  // The replacement in Lockstep: options with their values, or flags, separated by spaces. If it is
  // empty, Lockstep has no such option, and the user must leave the name out. A value may contain
  // one of these placeholders. Each stands for a form of the value that the user typed after the
  // name:
  //   {value}     the value in Lockstep's spelling (`values`)
  //   {total}     the value times devices and accumulation ("batch.global={total}")
  //   {device}    a device in the form of --devices ("0" for cuda:0, "all" for auto)
  //   {first}     a number of devices as indexes, from the first device on ("0,1" for 2)
  //   {path}      the value if it is a path; "PATH" if it is a switch such as "true"
  //   {list}      numbers in the form of a list ("64,64,64" for (64, 64, 64) and 64x64x64)
  //   {duration}  a time in the form of Lockstep's options ("12h" for 00:12:00:00)
  //   {kind}      a device without its number ("gpu" for cuda:1)
  //   {index}     the number of a device ("1" for cuda:1); without a number, the option is dropped
  std::string ours;
  // The replacement for the values 0, no, off, none and false ("off" values). Empty: `ours` is
  // used.
  std::string ours_when_off{};
  // The replacement for `lockstep batch`, in which each job sees one GPU. Empty: `ours` is used.
  std::string ours_in_batch{};
  bool none_when_off = false;  // for "off" values, the user needs no option
  bool zero_is_index = false;  // the value 0 is the index of the first device, not "off"
  bool means_several = false;  // the user means several devices, unless the value is "off"
  // If the name is on the command line, a batch size there is that of all devices together, not of
  // each device.
  bool shares_batch = false;
  // Pairs of another program's value and Lockstep's: "float16" and "fp16". "adamw*" matches all
  // values that begin with adamw.
  std::vector<std::pair<std::string, std::string>> values{};
  std::string note{};  // further advice, as a phrase
  // Pairs of a value of Lockstep's option and further advice for it: {"muon", "…"}.
  std::vector<std::pair<std::string, std::string>> value_notes{};
  // Other names on the command line whose value is a folder: {"data_dir"}. The file that this value
  // names is in that folder.
  std::vector<std::string> folders{};
  // `ours` applies only if one of these names is on the same command line: {"bert_model"}. If none
  // of them is, `ours_alone` applies. Empty: `ours` always applies.
  std::vector<std::string> beside{};
  std::string ours_alone{};
  std::vector<MeaningInCommand> in_command{};
  // Pairs of a value and the command that it requires instead of `train`: {"infer*", "predict"}.
  std::vector<std::pair<std::string, std::string>> commands{};
};

// One option or flag of a replacement, such as "--devices", with its value.
struct OurWord {
  std::string name, value;
  bool is_off = false;         // the value that the user typed was "off"
  bool means_several = false;  // the user means several devices
  bool is_file = false;        // the value is a file, and Synonym::folders may give its folder
};

// Stands in a suggestion for a value that the user did not type.
inline constexpr const char* unknown_value = "VALUE";

// A name and its value as the user typed them. The value is empty if the name had none.
struct TypedName {
  std::string name, value;
};

// Facts about a command line that the placeholder {total} needs; 0 = unknown.
struct TypedBatch {
  int devices = 0;
  std::int64_t accumulation = 1;
  bool makes_jobs = false;  // the command is `lockstep batch`, in which each job sees one GPU
};

// Returns a name in the form of Synonym::names: "batch_size" for "--Batch-Size".
std::string plain_name(std::string_view typed);

// Returns the synonym for a name as the user typed it; null if there is none. Finds "Batch-Size"
// and "batch.size" as batch_size.
const Synonym* find_synonym(std::span<const Synonym> synonyms, std::string_view typed);

// Returns the synonym's meaning in that command; null if it is the same as in `train`.
const MeaningInCommand* meaning_in(const Synonym& synonym, std::string_view command);

// Returns the replacement for a name with this value, for example {"batch.global", "32"},
// {"batch.micro", "16"}. Empty if the user must leave the name out.
std::vector<OurWord> written_here(const Synonym& synonym, const std::string& value,
                                  const TypedBatch& batch);

// Returns the value of Lockstep's option `key` that replaces another program's value: for
// precision, "fp16" replaces "16-mixed". Empty if no replacement is known.
std::string our_value(std::span<const Synonym> synonyms, std::string_view key,
                      const std::string& value);

// Returns the advice for the synonym and for this value; may be empty.
std::string note_for_value(const Synonym& synonym, const std::string& value);

// Returns the command that this value requires instead of `train`; empty if it requires none.
std::string command_of_value(const Synonym& synonym, const std::string& value);

// Returns a Markdown table of the names, the programs that use them, the replacements and the
// advice.
std::string synonyms_markdown(std::span<const Synonym> synonyms);

}  // namespace lockstep
