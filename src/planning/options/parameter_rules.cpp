#include "planning/options/parameter_rules.h"

#include "core/base/error.h"
#include "core/base/text/glob.h"
#include "core/base/text/text.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>

namespace lockstep {
namespace {

constexpr const char* form = "PATTERN: lr=… lr_factor=… weight_decay=… schedule=curve|constant";

[[noreturn]] void bad_entry(const std::string& entry, const std::string& why) {
  throw Error(cat("optimizer.groups: \"", entry, "\" ", why), cat("an entry is ", form));
}

double number_of(const std::string& entry, const std::string& key, const std::string& text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || !(value >= 0) ||
      !std::isfinite(value))
    bad_entry(entry, cat("must give ", key, " a number of 0 or more, not \"", text, "\""));
  return value;
}

void set_word(GroupRule& rule, const std::string& entry, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos) bad_entry(entry, cat("says \"", word, "\", which has no value"));
  const std::string key = word.substr(0, equals), text = word.substr(equals + 1);
  if (key == "lr") {
    rule.lr = number_of(entry, key, text);
  } else if (key == "lr_factor") {
    rule.lr_factor = number_of(entry, key, text);
  } else if (key == "weight_decay") {
    rule.weight_decay = number_of(entry, key, text);
  } else if (key == "schedule") {
    if (text != "curve" && text != "constant")
      bad_entry(entry, cat("must have the schedule curve or constant, not \"", text, "\""));
    rule.constant = text == "constant";
  } else {
    const std::vector<std::string> known{"lr", "lr_factor", "weight_decay", "schedule"};
    const std::string near = nearest(key, known);
    bad_entry(entry, cat("sets \"", key, "\", which a group does not have",
                         near.empty() ? "" : cat("; did you mean ", near, "?")));
  }
}

GroupRule parse_rule(const std::string& entry, double lr) {
  const std::size_t colon = entry.find(':');
  if (colon == entry.npos) bad_entry(entry, "has no colon after its pattern");
  GroupRule rule{.pattern = trim(entry.substr(0, colon))};
  if (rule.pattern.empty()) bad_entry(entry, "has no pattern");
  bool any = false;
  for (const std::string& word : split(entry.substr(colon + 1), ' '))
    if (!trim(word).empty()) {
      set_word(rule, entry, trim(word));
      any = true;
    }
  if (!any) bad_entry(entry, "sets nothing");
  if (rule.lr && rule.lr_factor) bad_entry(entry, "gives both lr and lr_factor");
  if (rule.lr && !rule.constant && lr == 0)
    throw Error(cat("optimizer.groups: \"", entry,
                    "\" follows the curve of optimizer.lr, which is 0 throughout"),
                "raise optimizer.lr and leave the rest out by train.freeze, or add "
                "schedule=constant");
  return rule;
}

std::size_t stars(const std::string& pattern) {
  return static_cast<std::size_t>(std::count(pattern.begin(), pattern.end(), '*'));
}

}  // namespace

std::vector<GroupRule> group_rules(const TrainOptions& options) {
  std::vector<GroupRule> rules;
  for (const std::string& entry : options.optimizer.groups)
    rules.push_back(parse_rule(entry, options.optimizer.lr));
  return rules;
}

std::string words_of(const GroupRule& rule) {
  std::vector<std::string> words;
  if (rule.lr) words.push_back(cat("lr ", general(*rule.lr, 6)));
  if (rule.lr_factor) words.push_back(cat("lr x ", general(*rule.lr_factor, 6)));
  if (rule.constant) words.emplace_back("constant rate");
  if (rule.weight_decay) words.push_back(cat("weight decay ", general(*rule.weight_decay, 6)));
  return join(words, ", ");
}

bool freezes(const std::vector<std::string>& patterns, const std::vector<std::string>& names) {
  for (std::size_t i = patterns.size(); i-- > 0;) {
    const bool keeps = patterns[i].starts_with("!");
    for (const std::string& name : names)
      if (glob_matches(std::string_view(patterns[i]).substr(keeps ? 1 : 0), name)) return !keeps;
  }
  return false;
}

std::vector<NamePair> name_map(const std::vector<std::string>& entries, const std::string& of) {
  std::vector<NamePair> pairs;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    const std::string hint =
        of == "init.map" ? "an entry is \"name in the file=name in the model\", as bert.*=encoder.*"
                         : "an entry is \"name in the model=new name\", as encoder.*=bert.*";
    if (equals == entry.npos || equals == 0)
      throw Error(cat(of, ": \"", entry, "\" is no pair of names with = between"), hint);
    NamePair pair{trim(entry.substr(0, equals)), trim(entry.substr(equals + 1))};
    if (pair.second.empty() || stars(pair.second) > stars(pair.first))
      throw Error(cat(of, ": \"", entry,
                      "\" must not have more * on the right than on the "
                      "left, nor an empty name there"),
                  hint);
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

void check_parameter_options(const TrainOptions& options) {
  group_rules(options);
  name_map(options.init.map);
  if (options.init.from.empty() && !(options.init.map.empty() && options.init.missing.empty() &&
                                     options.init.unexpected.empty()))
    throw Error(
        "init.map, init.missing and init.unexpected concern the file of init.from, which is "
        "not set",
        "set init.from to a run, a folder or a file");
}

}  // namespace lockstep
