// Names that people bring from other programs, and what is written here instead.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

struct Synonym {
  std::vector<std::string> names;  // small letters and underscores: "batch_size"
  std::string from;                // who calls it so: "PyTorch, Transformers"
  // What is written here, words with a space between: options with their values, or flags; empty:
  // nothing, it is left out. In a value stands at most one of
  //   {value}     the value that came with the name, as we write it
  //   {total}     that times devices and accumulation ("batch.global={total}")
  //   {device}    what --devices calls it ("0" of cuda:0, "all" of auto)
  //   {first}     so many devices from the first on ("0,1" of 2)
  //   {path}      the value where it is a path rather than a switch
  //   {duration}  a time of ours ("12h" of 00:12:00:00)
  //   {kind}      a device without its number ("gpu" of cuda:1)
  //   {index}     the number of a device ("1" of cuda:1); without one its word is left out
  std::string ours;
  std::string ours_when_off{};  // the same for false, 0, no, off and none; empty: as `ours`
  bool none_when_off = false;   // for those values there is nothing to write
  bool zero_is_index = false;   // 0 is the first device, and not off
  // Values that have another name here: "float16" and "fp16". "adamw*": all that begin so.
  std::vector<std::pair<std::string, std::string>> values{};
  std::string note{};  // what else to know, a phrase
};

// One word of ours: an option, or a flag such as "--devices".
struct OurWord {
  std::string name, value;
  bool is_off = false;  // what was typed was off
};

// Stands for a value that was not typed.
inline constexpr const char* unknown_value = "VALUE";

// What one typed: the name as it stood there, and its value, "" where there was none.
struct TypedName {
  std::string name, value;
};

// Where the values of one command line have their sizes from. 0: not known.
struct TypedBatch {
  int devices = 0;
  std::int64_t accumulation = 1;
};

// "--Batch-Size" as "batch_size".
std::string plain_name(std::string_view typed);

// The one that has the name, however it is typed, or null.
const Synonym* find_synonym(std::span<const Synonym> synonyms, std::string_view typed);

// {"batch.global", "32"}, {"batch.micro", "16"}. None: it is to be left out.
std::vector<OurWord> written_here(const Synonym& synonym, const std::string& value,
                                  const TypedBatch& batch);

// A table: the names, who calls it so, what is written here, and what else to know.
std::string synonyms_markdown(std::span<const Synonym> synonyms);

}  // namespace lockstep
