// Option tables. One table drives parsing, ranges, help, the reference page and the run record.
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
  std::string word{};                  // for a whole number: the word that stands for `min`
  // For texts and lists: the value names files, folders or globs. Relative paths are recorded as
  // absolute ones.
  bool is_path = false;
  std::vector<std::string> no_paths{};  // words that a path option takes besides paths
};

// The names of an enum's values, for an enum that is the type of an option. Specialize it, with the
// values in the order of their declaration:
//   template <> struct EnumNames<Precision> { static constexpr std::pair<Precision, const char*>
//   value[] = {...}; };
template <class E>
struct EnumNames;

enum class OptionType { boolean, integer, real, text, choice, duration, list };

// The source of a value.
struct ValueSource {
  enum class Kind { standard, preset, file, argument, record };
  Kind kind = Kind::standard;  // standard: the default
  std::string where{};         // a preset's name, or "my.toml, line 3"; may be empty
  bool lacks_unit = false;     // a duration was given as a plain number of seconds
};
const char* to_string(ValueSource::Kind kind);  // "default", "preset", "file", …

// An option, as help, completion, the reference page and `--json` show it.
struct OptionInfo {
  std::string key;
  OptionType type = OptionType::text;
  OptionSpec spec;
  std::string default_text;  // as a user would type it
  ValueSource source{};      // the source of the present value
};

// A named set of values. Config files and key=value arguments override it.
struct Preset {
  std::string name;
  std::string meaning;
  std::vector<std::pair<std::string, std::string>> values;
};

// Binds keys to fields of a struct, which must outlive the table. The table cannot be copied or
// moved, because it holds references. Not thread-safe.
class OptionTable {
 public:
  OptionTable();
  ~OptionTable();
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;

  // Adds an option. Its default is the value of the field at this call. Throws Error if the key was
  // added before, or has characters other than a-z, 0-9, _ and dots. Also throws it if the default
  // is out of range.
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

  // Parses, checks and stores a value. Throws Error with key, value, range and the nearest match.
  void set(std::string_view key, std::string_view text, ValueSource source = {});
  // The same with a JSON value of the option's type. Durations may also be text, and lists may be
  // "a,b,c".
  void set_json(std::string_view key, const nlohmann::json& value, ValueSource source = {});
  bool has(std::string_view key) const;
  // The choice that the text stands for. The text may be in capitals, or another program's word for
  // the choice (`synonyms`). Empty if there is no such choice.
  std::string choice_meant(std::string_view key, const std::string& text) const;
  // The present value as a user would type it. Throws Error if there is no such key.
  std::string get(std::string_view key) const;
  // Whether `set` or `set_json` was called for the key, also by a preset or a record.
  bool is_set(std::string_view key) const;
  // Whether a file, an argument or a record set the value last, and not a preset.
  bool is_given(std::string_view key) const;
  // Whether an argument or a config file set the value last, and not a preset or a record. False if
  // there is no such key.
  bool is_asked_for(std::string_view key) const;

  // Makes relative paths of path options absolute, from `base`. Throws Error for a web address.
  void make_paths_absolute(const std::filesystem::path& base);

  void add_preset(Preset preset);
  const std::vector<Preset>& presets() const;
  // Names that other programs have for these options. Messages use them if a user types one.
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

// "8h30m" is 30600 s. Throws Error unless the text is a plain number of seconds, or numbers with d,
// h, m, s or ms.
Duration parse_duration(std::string_view text);
std::string format_duration(Duration duration);  // "8h30m", "2.5s"

// Applies presets, files and arguments to several tables, such as the engine's and a recipe's.
// Later sources override earlier ones, in this order: defaults, the preset that the key `preset`
// names, config files, key=value arguments.
//
// A preset that neither files nor arguments name is applied only if the key `preset` was not set
// before. So arguments can be applied on top of a record. files: TOML; nested tables are joined
// with dots, so [batch] global = 8 is batch.global. A file's list is ignored if an argument sets
// the same option.
//
// Throws Error for an unknown key (with the nearest one), an unknown preset and a bad value. Also
// throws it for a file that is empty or unreadable, or has an error of TOML syntax (with its line).
// Keys after the faulty one are not applied.
void apply_config(std::span<OptionTable* const> tables,
                  std::span<const std::filesystem::path> files,
                  std::span<const std::string> assignments);

// Sets every key of a record that `to_json` wrote. Throws Error for an unknown key.
void apply_json(std::span<OptionTable* const> tables, const nlohmann::json& record);

// A TOML file of all options with their present values and comments. Options that were never set
// are commented out, so that they do not override a preset that the file names.
std::string to_toml(std::span<OptionTable* const> tables);

}  // namespace lockstep
