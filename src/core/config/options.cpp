// A table of options that are bound to fields, with functions to add, set and get them.
#include "core/config/options.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/parse.h"
#include "core/config/synonym.h"
#include "core/config/value.h"

namespace lockstep {
namespace {

using nlohmann::json;

struct Option {
  OptionInfo info;  // default_text is filled when the option is set
  std::function<json()> read;
  std::function<void(const json&)> write;  // receives only checked values
  bool is_set = false, is_given = false;

  std::string text() const { return detail::value_text(info.type, read()); }
};

// Whether the key is one or more words of lower-case letters, digits and underscores, joined by
// dots.
bool is_key(std::string_view key) {
  return !key.empty() && key.front() != '.' && key.back() != '.' && key.find("..") == key.npos &&
         key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == key.npos;
}

template <class T>
Option bind(std::string key, OptionType type, T& field, OptionSpec spec) {
  return {.info = {.key = std::move(key), .type = type, .spec = std::move(spec)},
          .read = [&field] { return json(field); },
          .write = [&field](const json& value) { field = value.get<T>(); }};
}

// The file name that curl gives to a download, without "?download=1". "FILE" if the address has no
// name.
std::string name_of_download(const std::string& address) {
  const std::string path = address.substr(0, address.find_first_of("?#"));
  const std::size_t slash = path.rfind('/');
  const bool is_of_host = slash == path.find("://") + 2;
  return is_of_host || slash + 1 == path.size() ? "FILE" : path.substr(slash + 1);
}

// Throws Error for an address such as "https://…" or "s3://…", because the option needs a path.
void refuse_address(const std::string& key, const std::string& text) {
  const std::size_t end = text.find("://");
  if (end == text.npos || end == 0 ||
      !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end),
                   [](unsigned char c) { return std::isalnum(c) != 0; }))
    return;
  const std::string scheme = text.substr(0, end);
  const std::string path = text.substr(end + 3);
  const std::string what =
      cat(key, " is an address, ", printable(text), ", and nothing is downloaded");
  if (scheme == "file" && path.starts_with('/'))
    throw Error(what, cat("write the path alone: ", key, "=", shell_word(path)));
  if (scheme == "http" || scheme == "https" || scheme == "ftp")
    throw Error(
        what, cat("fetch the file first, for example by curl -L -O ", shell_word(text),
                  ", unpack an archive, and write ", key, "=", shell_word(name_of_download(text))));
  throw Error(what, cat("name a file or folder of this machine: ", key, "=PATH"));
}

json absolute(const OptionInfo& option, const std::string& text,
              const std::filesystem::path& base) {
  const std::vector<std::string>& no_paths = option.spec.no_paths;
  const bool word = std::find(no_paths.begin(), no_paths.end(), text) != no_paths.end();
  if (!word) refuse_address(option.key, text);
  return text.empty() || word ? text : (base / text).lexically_normal().string();
}

}  // namespace

const char* to_string(ValueSource::Kind kind) {
  switch (kind) {
    case ValueSource::Kind::standard:
      return "default";
    case ValueSource::Kind::preset:
      return "preset";
    case ValueSource::Kind::file:
      return "file";
    case ValueSource::Kind::argument:
      return "argument";
    case ValueSource::Kind::record:
      return "record";
  }
  return "";
}

struct OptionTable::Impl {
  std::vector<Option> options;
  std::vector<Preset> presets;
  std::vector<Synonym> synonyms;

  Option* find(std::string_view key) {
    for (Option& option : options)
      if (option.info.key == key) return &option;
    return nullptr;
  }

  Option& get(std::string_view key) {
    if (Option* option = find(key)) return *option;
    const std::string near = nearest(key, keys());
    throw Error(cat(key, " is not an option"), near.empty() ? "" : cat("did you mean ", near, "?"));
  }

  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const Option& option : options) all.push_back(option.info.key);
    return all;
  }

  void add(Option option) {
    const std::string& key = option.info.key;
    const char* hint = "this is a mistake in the program or plugin that adds the option";
    if (!is_key(key)) throw Error(cat("\"", key, "\" cannot be an option's name"), hint);
    if (find(key)) throw Error(cat("option ", key, " is added twice"), hint);
    try {
      detail::check_value(option.info, option.read());
    } catch (const Error& error) {
      throw Error(cat("the default of an option is wrong: ", error.what()), hint);
    }
    options.push_back(std::move(option));
  }

  // If a wrong word is close to a choice, the error suggests that choice.
  template <class Check>
  json checked(const OptionTable& table, const Option& option, const std::string& text,
               const Check& check) const {
    try {
      return check();
    } catch (const Error& error) {
      const std::string& key = option.info.key;
      const std::string meant = table.choice_meant(key, text);
      if (meant.empty()) throw;
      throw Error(error.what(), cat("write ", key, "=", meant));
    }
  }

  void store(Option& option, const json& checked, ValueSource source) {
    if (!option.is_set) option.info.default_text = option.text();
    option.write(checked);
    option.is_set = true;
    option.is_given = source.kind != ValueSource::Kind::preset;
    option.info.source = std::move(source);
  }
};

OptionTable::OptionTable() : impl_(std::make_unique<Impl>()) {}
OptionTable::~OptionTable() = default;

void OptionTable::add(std::string key, bool& field, OptionSpec spec) {
  impl_->add(bind(std::move(key), OptionType::boolean, field, std::move(spec)));
}

void OptionTable::add(std::string key, std::int64_t& field, OptionSpec spec) {
  impl_->add(bind(std::move(key), OptionType::integer, field, std::move(spec)));
}

void OptionTable::add(std::string key, double& field, OptionSpec spec) {
  impl_->add(bind(std::move(key), OptionType::real, field, std::move(spec)));
}

void OptionTable::add(std::string key, std::string& field, OptionSpec spec) {
  const OptionType type = spec.choices.empty() ? OptionType::text : OptionType::choice;
  impl_->add(bind(std::move(key), type, field, std::move(spec)));
}

void OptionTable::add(std::string key, Duration& field, OptionSpec spec) {
  impl_->add(bind(std::move(key), OptionType::duration, field.seconds, std::move(spec)));
}

void OptionTable::add(std::string key, std::vector<std::string>& field, OptionSpec spec) {
  impl_->add(bind(std::move(key), OptionType::list, field, std::move(spec)));
}

void OptionTable::add_choice(std::string key,
                             std::vector<std::pair<std::int64_t, std::string>> names,
                             std::function<std::int64_t()> get,
                             std::function<void(std::int64_t)> set, OptionSpec spec) {
  spec.choices.clear();
  for (const auto& [value, name] : names) spec.choices.push_back(name);
  auto read = [names, get = std::move(get)]() -> json {
    const std::int64_t present = get();
    for (const auto& [value, name] : names)
      if (value == present) return name;
    return {};
  };
  auto write = [names, set = std::move(set)](const json& word) {
    for (const auto& [value, name] : names)
      if (name == word.get_ref<const std::string&>()) set(value);
  };
  impl_->add({.info = {.key = std::move(key), .type = OptionType::choice, .spec = std::move(spec)},
              .read = std::move(read),
              .write = std::move(write)});
}

void OptionTable::set(std::string_view key, std::string_view text, ValueSource source) {
  Option& option = impl_->get(key);
  const json value = impl_->checked(*this, option, std::string(text),
                                    [&] { return detail::parse_value(option.info, text); });
  source.lacks_unit =
      option.info.type == OptionType::duration && detail::parse_real(text).has_value();
  impl_->store(option, value, std::move(source));
}

void OptionTable::set_json(std::string_view key, const json& value, ValueSource source) {
  Option& option = impl_->get(key);
  const json checked = impl_->checked(*this, option,
                                      value.is_string()      ? value.get<std::string>()
                                      : value.is_primitive() ? value.dump()
                                                             : std::string(),
                                      [&] { return detail::check_value(option.info, value); });
  source.lacks_unit =
      option.info.type == OptionType::duration &&
      (value.is_number() || (value.is_string() && detail::parse_real(value.get<std::string>())));
  impl_->store(option, checked, std::move(source));
}

bool OptionTable::has(std::string_view key) const { return impl_->find(key) != nullptr; }
std::string OptionTable::choice_meant(std::string_view key, const std::string& text) const {
  const Option* const option = impl_->find(key);
  if (option == nullptr || option->info.type != OptionType::choice) return "";
  const std::vector<std::string>& choices = option->info.spec.choices;
  const auto is_choice = [&](const std::string& word) {
    return std::find(choices.begin(), choices.end(), word) != choices.end();
  };
  if (is_choice(text)) return text;
  std::string small = text;
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (is_choice(small)) return small;
  const std::string meant = our_value(impl_->synonyms, key, text);
  return is_choice(meant) ? meant : "";
}

std::string OptionTable::get(std::string_view key) const { return impl_->get(key).text(); }
bool OptionTable::is_set(std::string_view key) const { return impl_->get(key).is_set; }
bool OptionTable::is_given(std::string_view key) const { return impl_->get(key).is_given; }
bool OptionTable::is_asked_for(std::string_view key) const {
  const Option* const option = impl_->find(key);
  if (option == nullptr || !option->is_set) return false;
  const ValueSource::Kind kind = option->info.source.kind;
  return kind == ValueSource::Kind::argument || kind == ValueSource::Kind::file;
}

void OptionTable::make_paths_absolute(const std::filesystem::path& base) {
  for (Option& option : impl_->options) {
    if (!option.info.spec.is_path) continue;
    json value = option.read();
    if (value.is_string()) value = absolute(option.info, value, base);
    if (value.is_array())
      for (json& text : value) text = absolute(option.info, text, base);
    option.write(value);
  }
}

void OptionTable::add_preset(Preset preset) { impl_->presets.push_back(std::move(preset)); }
const std::vector<Preset>& OptionTable::presets() const { return impl_->presets; }

void OptionTable::add_synonyms(std::vector<Synonym> synonyms) {
  std::move(synonyms.begin(), synonyms.end(), std::back_inserter(impl_->synonyms));
}
const std::vector<Synonym>& OptionTable::synonyms() const { return impl_->synonyms; }

std::vector<OptionInfo> OptionTable::options() const {
  std::vector<OptionInfo> infos;
  for (const Option& option : impl_->options) {
    infos.push_back(option.info);
    if (!option.is_set) infos.back().default_text = option.text();
  }
  return infos;
}

std::vector<std::string> OptionTable::keys() const { return impl_->keys(); }

json OptionTable::to_json() const {
  json record = json::object();
  for (const Option& option : impl_->options) record[option.info.key] = option.read();
  return record;
}

}  // namespace lockstep
