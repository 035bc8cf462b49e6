// Option tables: one table drives parsing, ranges, help, the reference page and the run record.
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

// A span of time given as "8h30m", "90s", "1d" or a plain number of seconds.
struct Duration {
  double seconds = 0;
  friend bool operator==(const Duration&, const Duration&) = default;
};

// The meaning of an option and the values it takes.
struct OptionSpec {
  std::string meaning;                                    // a phrase, lower case, no full stop
  std::string unit{};                                     // "tokens", "s", "samples"; empty if none
  double min = -std::numeric_limits<double>::infinity();  // inclusive; seconds for durations
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices{};  // texts only: the words allowed
  std::string word{};                  // whole numbers only: a word for the least number
  // Texts and lists only: the value names files, folders or globs. Relative paths are recorded as
  // absolute ones.
  bool is_path = false;
  std::vector<std::string> no_paths{};  // for paths: words that mean something else
};

// Specialise it for an enum whose values an option takes. It gives their names, in the order of
// declaration.
//   template <> struct EnumNames<Precision> { static constexpr std::pair<Precision, const char*>
//   value[] = {...}; };
template <class E>
struct EnumNames;

enum class OptionType { boolean, integer, real, text, choice, duration, list };

// The source of a value.
struct ValueSource {
  enum class Kind { standard, preset, file, argument, record };
  Kind kind = Kind::standard;  // standard: the default
  std::string where{};         // the preset's name; "my.toml, line 3"; empty otherwise
  bool lacks_unit = false;     // of a duration: a bare number, which counts seconds
};
const char* to_string(ValueSource::Kind kind);  // "default", "preset", "file", …

// One option as help, completion, the reference page and `--json` show it.
struct OptionInfo {
  std::string key;
  OptionType type = OptionType::text;
  OptionSpec spec;
  std::string default_text;  // as a user would type it
  ValueSource source{};      // source of the present value
};

// A named set of values, which config files and key=value arguments override.
struct Preset {
  std::string name;
  std::string meaning;
  std::vector<std::pair<std::string, std::string>> values;
};

// Binds keys to fields of a struct that outlives the table. Neither copyable nor movable, because
// it holds references. Not thread-safe.
class OptionTable {
 public:
  OptionTable();
  ~OptionTable();
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;

  // The field's value at this call is the option's default. Throws Error if the key was added
  // before or is not made of a-z, 0-9, _ and dots, or if the default is out of range.
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

  // Parses, checks and stores. Throws Error naming key, value, range and the nearest match. A value
  // from a preset does not count as given: see `is_given`.
  void set(std::string_view key, std::string_view text, ValueSource source = {});
  // The same with a JSON value of the option's type (durations also as text, lists as "a,b,c").
  void set_json(std::string_view key, const nlohmann::json& value, ValueSource source = {});
  bool has(std::string_view key) const;
  // The choice that the text means. It may be typed in capitals, or as another program's word for
  // the choice (`synonyms`). "" if there is none.
  std::string choice_meant(std::string_view key, const std::string& text) const;
  // The present value as a user would type it; throws Error if there is no such key.
  std::string get(std::string_view key) const;
  // True after `set` or `set_json` for the key, also by a preset or a record.
  bool is_set(std::string_view key) const;
  // True if a file, an argument or a record set the value, not only a preset.
  bool is_given(std::string_view key) const;
  // True if an argument or a config file set the value, rather than a preset or a record. False if
  // there is no such key.
  bool is_asked_for(std::string_view key) const;

  // Resolves relative paths of path options against `base`. Throws Error for an address of the web.
  void make_paths_absolute(const std::filesystem::path& base);

  void add_preset(Preset preset);
  const std::vector<Preset>& presets() const;
  // Other programs' names for these options, for messages to people who type one.
  void add_synonyms(std::vector<Synonym> synonyms);
  const std::vector<Synonym>& synonyms() const;
  std::vector<OptionInfo> options() const;  // in the order added
  std::vector<std::string> keys() const;    // in the order added

  // {"key": value, ...} with JSON types; durations as seconds.
  nlohmann::json to_json() const;

 private:
  void add_choice(std::string key, std::vector<std::pair<std::int64_t, std::string>> names,
                  std::function<std::int64_t()> get, std::function<void(std::int64_t)> set,
                  OptionSpec spec);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// "8h30m" -> 30600 s. Throws Error unless the text is numbers with d, h, m, s or ms, or a plain
// number of seconds.
Duration parse_duration(std::string_view text);
std::string format_duration(Duration duration);  // "8h30m", "2.5s"

// Applies to several tables in order: the engine's options and a recipe's. Priority rises in this
// order: defaults, the preset that the key `preset` names, config files, key=value arguments. A
// preset that neither files nor arguments name is applied only if the key `preset` was not set
// before, so that arguments can overlay a record. files: TOML, nested tables joined with dots
// ([batch] global = 8 is batch.global). A file's list is ignored if an argument sets the option.
// Throws Error for an unknown key (and names the nearest), a bad value, an unreadable file, a fault
// of TOML syntax (with its line), and an unknown preset. Keys after the faulty one change nothing.
void apply_config(std::span<OptionTable* const> tables,
                  std::span<const std::filesystem::path> files,
                  std::span<const std::string> assignments);

// Sets every key of a record written by `to_json`. Throws Error for unknown keys.
void apply_json(std::span<OptionTable* const> tables, const nlohmann::json& record);

// A commented TOML file of all options with their present values. Options that were never set are
// commented out, so that a preset chosen in the file still applies.
std::string to_toml(std::span<OptionTable* const> tables);

}  // namespace lockstep
