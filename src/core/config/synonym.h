// Names from other programs, and the options to use here instead.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

// Another meaning of a name for one of the commands that read a run.
struct MeaningInCommand {
  std::string command;  // "evaluate", "predict"
  std::string ours;     // as Synonym::ours
  std::string note{};   // likewise
};

struct Synonym {
  std::vector<std::string> names;  // lower case with underscores: "batch_size"
  std::string from;                // the programs that use the name: "PyTorch, Transformers"
  // The replacement here: options with their values, or flags, separated by spaces. Empty: the
  // option is left out. A value contains at most one of
  //   {value}     the value that came with the name, as it is written here
  //   {total}     the value times devices and accumulation ("batch.global={total}")
  //   {device}    what --devices calls it ("0" of cuda:0, "all" of auto)
  //   {first}     that many devices, from the first on ("0,1" of 2)
  //   {path}      the value where it is a path rather than a switch
  //   {list}      numbers as a list of options here ("64,64,64" of (64, 64, 64) and 64x64x64)
  //   {duration}  a time as options here take it ("12h" of 00:12:00:00)
  //   {kind}      a device without its number ("gpu" of cuda:1)
  //   {index}     the number of a device ("1" of cuda:1); without a number its word is left out
  std::string ours;
  std::string ours_when_off{};  // the same for values 0, no, off, none and false; empty: as `ours`
  std::string ours_in_batch{};  // the same for a command that makes a batch; empty: as `ours`
  bool none_when_off = false;   // for those values nothing is needed here
  bool zero_is_index = false;   // 0 means the first device, not off
  bool means_several = false;   // several devices are meant, unless it is off
  bool shares_batch = false;    // and they share a batch size, which is of each device elsewhere
  // Values with another name here: "float16" and "fp16". "adamw*" matches all that begin so.
  std::vector<std::pair<std::string, std::string>> values{};
  std::string note{};  // further advice, a phrase
  // Advice for one value of the option here: {"muon", "…"}.
  std::vector<std::pair<std::string, std::string>> value_notes{};
  // Names whose value is the folder of the file that the value names: {"data_dir"}.
  std::vector<std::string> folders{};
  // Other names on the same command line with which `ours` holds: {"bert_model"}. Without any of
  // them, `ours_alone` holds.
  std::vector<std::string> beside{};
  std::string ours_alone{};
  std::vector<MeaningInCommand> in_command{};
  // Values that ask for another command than training: {"infer*", "predict"}.
  std::vector<std::pair<std::string, std::string>> commands{};
};

// One word of the replacement: an option, or a flag such as "--devices".
struct OurWord {
  std::string name, value;
  bool is_off = false;         // the typed value was off
  bool means_several = false;  // several devices
  bool is_file = false;        // a file, whose folder another name may give
};

// Stands for a value that was not typed.
inline constexpr const char* unknown_value = "VALUE";

// A name and a value as typed; value is "" if there was none.
struct TypedName {
  std::string name, value;
};

// Sizes that the values of one command line depend on; 0 if unknown.
struct TypedBatch {
  int devices = 0;
  std::int64_t accumulation = 1;
  bool makes_jobs = false;  // the command makes a batch, whose jobs see one GPU each
};

// "--Batch-Size" as "batch_size".
std::string plain_name(std::string_view typed);

// The synonym with that name, in any spelling, or null. "batch.size" is found as batch_size.
const Synonym* find_synonym(std::span<const Synonym> synonyms, std::string_view typed);

// The name's other meaning for that command, or null.
const MeaningInCommand* meaning_in(const Synonym& synonym, std::string_view command);

// For example {"batch.global", "32"}, {"batch.micro", "16"}. Empty: the option is to be left out.
std::vector<OurWord> written_here(const Synonym& synonym, const std::string& value,
                                  const TypedBatch& batch);

// The value of the option that another program's value stands for: for precision, "fp16" is the
// value for "16-mixed". "": none is known.
std::string our_value(std::span<const Synonym> synonyms, std::string_view key,
                      const std::string& value);

// The further advice for a value as typed, or "".
std::string note_for_value(const Synonym& synonym, const std::string& value);

// The command that a value asks for in place of training, or "".
std::string command_of_value(const Synonym& synonym, const std::string& value);

// A table of the names, the programs that use them, the replacement here and further advice.
std::string synonyms_markdown(std::span<const Synonym> synonyms);

}  // namespace lockstep
