// Option tables. A table defines the options of the engine or of a recipe. It is used for parsing,
// range checks, help, the reference page and the run's record (run.json).
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/config/synonym.h"

namespace lockstep {

// A span of time, written as "8h30m", "90s", "1d" or a plain number of seconds.
struct Duration {
  double seconds = 0;
  friend bool operator==(const Duration&, const Duration&) = default;
};

// The meaning of an option and the values that it accepts.
struct OptionSpec {
  std::string meaning;  // a phrase in lower case, without a full stop
  std::string unit{};   // "tokens", "s", "samples"; may be empty
  double min = -std::numeric_limits<double>::infinity();  // inclusive; in seconds for durations
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices{};  // the allowed words of a text
  std::string word{};  // for a whole number: a word that users may type for `min`; may be empty
  // For texts and lists: whether the value names files, folders or globs. make_paths_absolute()
  // then applies to it.
  bool is_path = false;
  std::vector<std::string> no_paths{};  // values of a path option that are not paths
};

// The names of the values of an enum E, so that E can be the type of an option. Specialize it for
// E, with the values in the order of their declaration:
//   template <> struct EnumNames<Precision> { static constexpr std::pair<Precision, const char*>
//   value[] = {...}; };
template <class E>
struct EnumNames;

enum class OptionType { boolean, integer, real, text, choice, duration, list };

// Where the value of an option comes from.
struct ValueSource {
  enum class Kind { standard, preset, file, argument, record };
  // standard: the value is the default. record: it comes from a run's record
  Kind kind = Kind::standard;
  std::string where{};      // a preset's name, or "my.toml, line 3"; may be empty
  bool lacks_unit = false;  // whether a duration was given as a plain number, which means seconds
};
const char* to_string(ValueSource::Kind kind);  // "default", "preset", "file", …

// The data of an option that help, completion, the reference page and `--json` show.
struct OptionInfo {
  std::string key;
  OptionType type = OptionType::text;
  OptionSpec spec;
  std::string default_text;  // as a user would type it
  ValueSource source{};      // the source of the present value
};

// A named set of values for several options. Values in config files and key=value arguments
// override it.
struct Preset {
  std::string name;
  std::string meaning;
  std::vector<std::pair<std::string, std::string>> values;
};

// Binds each key to a field of a struct, which must outlive the table. The table cannot be copied
// or moved, because it has references to the fields. Not thread-safe.
class OptionTable {
 public:
  OptionTable();
  ~OptionTable();
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;

  // Adds an option. Its default is the value of the field at this call. Throws Error if the key was
  // added before, or has characters other than a-z, 0-9, _ and dots. Also throws Error if the
  // default is out of range.
  void add(std::string key, bool& field, OptionSpec spec);
  void add(std::string key, std::int64_t& field, OptionSpec spec);
  void add(std::string key, double& field, OptionSpec spec);
  void add(std::string key, std::string& field, OptionSpec spec);
  void add(std::string key, Duration& field, OptionSpec spec);
  void add(std::string key, std::vector<std::string>& field, OptionSpec spec);  // "a,b,c"
  template <class E>
  requires std::is_enum_v<E>
  void add(std::string key, E& field, OptionSpec spec) {
    std::vector<std::pair<std::int64_t, std::string>> names;
    for (const auto& [value, name] : EnumNames<E>::value)
      names.emplace_back(static_cast<std::int64_t>(value), name);
    add_choice(
        std::move(key), std::move(names), [&field] { return static_cast<std::int64_t>(field); },
        [&field](std::int64_t value) { field = static_cast<E>(value); }, std::move(spec));
  }

  // Parses, checks and stores a value. Throws Error if the key is unknown or the value is not
  // allowed. The message has the key, the value, the allowed values and the most similar word.
  void set(std::string_view key, std::string_view text, ValueSource source = {});
  // The same, with a JSON value of the option's type. A duration may also be text, such as "8h30m".
  // A list may also be text, such as "a,b,c".
  void set_json(std::string_view key, const nlohmann::json& value, ValueSource source = {});
  bool has(std::string_view key) const;
  // Returns the allowed value that the text stands for, for an option with a fixed set of values.
  // The text may be in capitals, or be another program's word for the value (`synonyms`). Returns
  // an empty text if it stands for none.
  std::string choice_meant(std::string_view key, const std::string& text) const;
  // The present value as a user would type it. Throws Error if there is no such key.
  std::string get(std::string_view key) const;
  // Whether `set` or `set_json` was called for the key, even if a preset or a record was the
  // source.
  bool is_set(std::string_view key) const;
  // Whether the last call of `set` or `set_json` had another source than a preset.
  bool is_given(std::string_view key) const;
  // Whether the last call of `set` or `set_json` had an argument or a config file as its source.
  // False if there is no such key.
  bool is_asked_for(std::string_view key) const;

  // Makes the relative paths of path options absolute. base: the folder to which they are relative.
  // Throws Error if a value is a web address.
  void make_paths_absolute(const std::filesystem::path& base);

  void add_preset(Preset preset);
  const std::vector<Preset>& presets() const;
  // Adds names that other programs use for these options. If a user types such a name, the error
  // message says which option to use.
  void add_synonyms(std::vector<Synonym> synonyms);
  const std::vector<Synonym>& synonyms() const;
  std::vector<OptionInfo> options() const;  // in the order in which they were added
  std::vector<std::string> keys() const;    // in the order in which they were added

  // {"key": value, ...} with JSON types. Durations are in seconds.
  nlohmann::json to_json() const;

 private:
  void add_choice(std::string key, std::vector<std::pair<std::int64_t, std::string>> names,
                  std::function<std::int64_t()> get, std::function<void(std::int64_t)> set,
                  OptionSpec spec);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Parses a text such as "8h30m", which is 30600 s. Throws Error unless the text is a plain number
// of seconds, or a sequence of numbers with the units d, h, m, s or ms.
Duration parse_duration(std::string_view text);
std::string format_duration(Duration duration);  // "8h30m", "2.5s"

// Applies presets, config files and arguments to several tables, such as the engine's and a
// recipe's. Later sources override earlier ones, in this order: defaults, the preset that the key
// `preset` names, config files, key=value arguments.
//
// If neither a file nor an argument names a preset, the present value of `preset` is used, but only
// if that key was not set before. So arguments can be applied on top of a record, without its
// preset. files: TOML files. Nested tables are joined with dots, so [batch] global = 8 is
// batch.global. A list in a file is ignored if an argument sets the same option.
//
// Throws Error if a key or a preset is unknown, or if a value is not allowed. For an unknown key,
// the message names the most similar key. Also throws Error if a file is empty, unreadable, or has
// a syntax error; the message names its line. Keys after the faulty one are not applied.
void apply_config(std::span<OptionTable* const> tables,
                  std::span<const std::filesystem::path> files,
                  std::span<const std::string> assignments);

// Sets every key of a record that `to_json` wrote. Throws Error for an unknown key.
void apply_json(std::span<OptionTable* const> tables, const nlohmann::json& record);

// Returns a TOML file with all options, their present values and comments. Options that were never
// set are commented out, so that they do not override a preset that the file names.
std::string to_toml(std::span<OptionTable* const> tables);

}  // namespace lockstep
