// Maps names of options in other programs to the options to use here.
#include "core/config/synonym.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/config/options.h"
#include "core/config/parse.h"

namespace lockstep {
namespace {

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

bool is_off(const Synonym& synonym, const std::string& value) {
  const std::string small = in_small_letters(value);
  if (small == "0") return !synonym.zero_is_index;
  return small == "none" || detail::parse_boolean(small) == false;
}

bool is_switch(const std::string& value) {
  return detail::parse_boolean(in_small_letters(value)).has_value();
}

std::string whole_text(std::int64_t number) { return std::to_string(number); }

// The batch of all devices in one step.
std::string total_of(const std::string& value, const TypedBatch& batch) {
  const std::int64_t accumulation = std::max<std::int64_t>(batch.accumulation, 1);
  const auto number = detail::parse_integer(value);
  const bool is_size = number && *number >= 1 && *number <= 1'000'000'000;
  if (!is_size || batch.devices < 1)
    return cat(is_size ? value : "VALUE", "xDEVICES",
               accumulation > 1 ? cat("x", accumulation) : "");
  return whole_text(*number * batch.devices * accumulation);
}

// Turns "[0, 1]" into "0,1".
std::string without_brackets(const std::string& value) {
  std::string list;
  for (const char c : value)
    if (std::string_view("[]() '\"").find(c) == std::string_view::npos) list += c;
  if (list.ends_with(',')) list.pop_back();
  return list;
}

// Turns "64x64x64" and "(64, 64, 64)" into "64,64,64".
std::string list_of(const std::string& value) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::string list = without_brackets(value);
  for (std::size_t i = 1; i + 1 < list.size(); ++i)
    if ((list[i] == 'x' || list[i] == 'X') && is_digit(list[i - 1]) && is_digit(list[i + 1]))
      list[i] = ',';
  return list;
}

// The index in "cuda:1" or "gpu:1", or "" if there is none.
std::string index_behind_colon(const std::string& value) {
  for (const std::string_view before : {"cuda:", "gpu:"})
    if (value.starts_with(before)) return value.substr(before.size());
  return "";
}

// Turns "cuda:1" into "1", and "auto" into "all".
std::string device_of(const std::string& value) {
  const std::string device = without_brackets(value);
  if (const std::string index = index_behind_colon(device); !index.empty()) return index;
  const std::string small = in_small_letters(device);
  for (const char* all : {"", "auto", "cuda", "gpu", "-1", "true"})
    if (small == all) return "all";
  return device;
}

// Turns a count of devices into their indexes, such as "3" into "0,1,2". A list of indexes is kept.
std::string first_devices(const std::string& value) {
  constexpr std::int64_t most = 64;
  if (value.find_first_of("[,") != value.npos) return device_of(value);
  const auto count = detail::parse_integer(value);
  if (count == 0 || value == "cpu") return "cpu";
  if (!count || *count < 1 || *count > most) return "all";
  std::vector<std::string> indexes;
  for (std::int64_t i = 0; i < *count; ++i) indexes.push_back(whole_text(i));
  return join(indexes, ",");
}

std::optional<std::string> index_of(const std::string& value) {
  const std::string index = index_behind_colon(value);
  if (!index.empty()) return index;
  return whole_number(value) ? std::optional(value) : std::nullopt;
}

// Turns "cuda:1", "1" and "true" into "gpu".
std::string kind_of(const std::string& value) {
  if (value.empty() || index_of(value) || in_small_letters(value) == "true") return "gpu";
  return value;
}

// Turns days, hours, minutes and seconds, such as "00:12:00:00", into "12h". Other values are kept.
std::string duration_of(const std::string& value) {
  constexpr double lengths[] = {1, 60, 3600, 86400};
  const std::vector<std::string> parts = split(value, ':');
  if (parts.size() < 2 || parts.size() > std::size(lengths)) return value;
  double seconds = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto count = whole_number(parts[i], std::int64_t{0}, std::int64_t{1'000'000});
    if (!count) return value;
    seconds += static_cast<double>(*count) * lengths[parts.size() - 1 - i];
  }
  return format_duration({seconds});
}

bool fits_pattern(const std::string& value, std::string_view pattern) {
  if (!pattern.ends_with('*')) return value == pattern;
  return value.starts_with(pattern.substr(0, pattern.size() - 1));
}

// Turns "torch.float16" into "float16".
std::string plain_value(const std::string& value) {
  const std::string small = in_small_letters(value);
  for (const std::string_view module : {"torch.optim.lr_scheduler.", "torch.optim.", "torch."})
    if (small.starts_with(module)) return small.substr(module.size());
  return small;
}

// The value in our spelling: "true" for "True", "fp16" for "torch.float16".
std::string value_of(const Synonym& synonym, const std::string& value) {
  const std::string small = plain_value(value);
  for (const auto& [pattern, ours] : synonym.values)
    if (fits_pattern(small, pattern)) return ours;
  if (small == "true" || small == "false") return small;
  return value.empty() ? unknown_value : value;
}

// The text that replaces {word}. Nothing if the value gives none.
std::optional<std::string> meaning_of(std::string_view word, const Synonym& synonym,
                                      const std::string& value, const TypedBatch& batch) {
  if (word == "total") return total_of(value.empty() ? unknown_value : value, batch);
  if (word == "device") return device_of(value);
  if (word == "first") return first_devices(value);
  if (word == "path") return value.empty() || is_switch(value) ? "PATH" : value;
  if (word == "list") return value.empty() ? unknown_value : list_of(value);
  if (word == "duration") return value.empty() ? unknown_value : duration_of(value);
  if (word == "kind") return kind_of(value);
  if (word == "index") return index_of(value);
  return value_of(synonym, value);
}

// Fills the {word} of one form in Synonym::ours.
std::optional<std::string> filled(const std::string& form, const Synonym& synonym,
                                  const std::string& value, const TypedBatch& batch) {
  const std::size_t open = form.find('{'), close = form.find('}');
  if (open == form.npos || close == form.npos) return form;
  const auto meaning = meaning_of(form.substr(open + 1, close - open - 1), synonym, value, batch);
  if (!meaning) return std::nullopt;
  return cat(form.substr(0, open), *meaning, form.substr(close + 1));
}

// Splits "batch.micro={value}" and "--devices {device}" into names and values.
std::vector<OurWord> words_of(const std::string& ours) {
  std::vector<OurWord> words;
  for (const std::string& word : split(ours, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals != word.npos)
      words.push_back({word.substr(0, equals), word.substr(equals + 1)});
    else if (word.starts_with("--"))
      words.push_back({word, ""});
    else if (!words.empty())
      words.back().value = word;
  }
  return words;
}

void replace(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size())
    text.replace(at, what.size(), by);
}

std::string in_code(const std::string& text) { return text.empty() ? "" : cat("`", text, "`"); }

}  // namespace

std::string plain_name(std::string_view typed) {
  std::string name(typed.substr(std::min(typed.find_first_not_of('-'), typed.size())));
  for (char& c : name)
    c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

const Synonym* find_synonym(std::span<const Synonym> synonyms, std::string_view typed) {
  const std::string name = plain_name(typed);
  for (const Synonym& synonym : synonyms)
    if (std::find(synonym.names.begin(), synonym.names.end(), name) != synonym.names.end())
      return &synonym;
  if (name.find('.') == name.npos) return nullptr;
  std::string whole = name;
  std::replace(whole.begin(), whole.end(), '.', '_');
  // DeepSpeed's train_batch_size is for all devices together. A batch_size inside a group is for
  // each.
  return find_synonym(synonyms, whole == "train_batch_size" ? "batch_size" : whole);
}

const MeaningInCommand* meaning_in(const Synonym& synonym, std::string_view command) {
  for (const MeaningInCommand& other : synonym.in_command)
    if (other.command == command) return &other;
  return nullptr;
}

std::vector<OurWord> written_here(const Synonym& synonym, const std::string& value,
                                  const TypedBatch& batch) {
  const bool has_off = synonym.none_when_off || !synonym.ours_when_off.empty();
  const bool off = has_off && !value.empty() && is_off(synonym, value);
  if (off && synonym.none_when_off) return {};
  const bool for_jobs = batch.makes_jobs && !synonym.ours_in_batch.empty();
  std::vector<OurWord> words;
  for (const OurWord& word : words_of(off        ? synonym.ours_when_off
                                      : for_jobs ? synonym.ours_in_batch
                                                 : synonym.ours))
    if (const auto ours = filled(word.value, synonym, value, batch))
      words.push_back({word.name, *ours, off, synonym.means_several && !off,
                       !synonym.folders.empty() && !value.empty()});
  return words;
}

std::string our_value(std::span<const Synonym> synonyms, std::string_view key,
                      const std::string& value) {
  const std::string form = cat(key, "={value}"), small = plain_value(value);
  for (const Synonym& synonym : synonyms)
    if (synonym.ours == form)
      for (const auto& [pattern, ours] : synonym.values)
        if (fits_pattern(small, pattern)) return ours;
  return "";
}

std::string note_for_value(const Synonym& synonym, const std::string& value) {
  std::string advice = synonym.note;
  const std::string ours = value_of(synonym, value);
  for (const auto& [one, note] : synonym.value_notes)
    if (one == ours) advice += cat(advice.empty() ? "" : "; ", note);
  return advice;
}

std::string command_of_value(const Synonym& synonym, const std::string& value) {
  const std::string small = in_small_letters(value);
  for (const auto& [pattern, command] : synonym.commands)
    if (fits_pattern(small, pattern)) return command;
  return "";
}

std::string synonyms_markdown(std::span<const Synonym> synonyms) {
  std::string text = "| name | of | here | note |\n|---|---|---|---|\n";
  for (const Synonym& synonym : synonyms) {
    std::vector<std::string> names;
    for (const std::string& name : synonym.names) names.push_back(in_code(name));
    std::string ours = in_code(synonym.ours);
    if (ours.empty()) ours = "left out";
    if (synonym.none_when_off) ours += "; off: left out";
    if (!synonym.ours_when_off.empty()) ours += cat("; off: ", in_code(synonym.ours_when_off));
    if (!synonym.ours_in_batch.empty())
      ours += cat("; in a batch: ", in_code(synonym.ours_in_batch));
    if (!synonym.ours_alone.empty()) ours += cat("; alone: ", in_code(synonym.ours_alone));
    for (const MeaningInCommand& other : synonym.in_command)
      ours += cat("; in `lockstep ", other.command,
                  "`: ", other.ours.empty() ? "left out" : in_code(other.ours));
    replace(ours, "{value}", "VALUE");
    replace(ours, "{total}", "VALUE x devices x accumulation");
    replace(ours, "{device}", "DEVICE");
    replace(ours, "{first}", "0,1,…");
    replace(ours, "{path}", "PATH");
    replace(ours, "{list}", "VALUE");
    replace(ours, "{duration}", "TIME");
    replace(ours, "{kind}", "DEVICE");
    replace(ours, "{index}", "INDEX");
    std::string note = synonym.note;
    for (const auto& [value, advice] : synonym.value_notes)
      note += cat(note.empty() ? "" : "; ", in_code(value), ": ", advice);
    for (const MeaningInCommand& other : synonym.in_command)
      if (!other.note.empty())
        note += cat(note.empty() ? "" : "; ", "in ", other.command, ": ", other.note);
    for (const auto& [value, command] : synonym.commands)
      note += cat(note.empty() ? "" : "; ", in_code(value), ": `lockstep ", command, "`");
    text += cat("| ", join(names, ", "), " | ", synonym.from, " | ", ours, " | ", note, " |\n");
  }
  return text;
}

}  // namespace lockstep
