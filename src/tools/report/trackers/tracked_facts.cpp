#include "tools/report/trackers/tracked_facts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "core/media/csv_table.h"
#include "tools/report/facts/option_kinds.h"

namespace lockstep {
namespace {

constexpr std::size_t longest_parameter = 1000;

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

// The last word of a name, such as "dir" in "data.cache_dir".
std::string last_word(const std::string& name) {
  const std::size_t at = name.find_last_of("._/- ");
  return in_lower_case(at == name.npos ? name : name.substr(at + 1));
}

bool names_the_run(const std::string& name) {
  const std::string lower = in_lower_case(name);
  constexpr std::array names{"name",     "run_name", "run_id", "experiment_name",
                             "exp_name", "version"};
  return std::find(names.begin(), names.end(), lower) != names.end();
}

bool is_place(const std::string& name, const nlohmann::json& value) {
  constexpr std::array words{"dir", "path", "folder", "file"};
  if (std::find(words.begin(), words.end(), last_word(name)) != words.end()) return true;
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") ||
         text.starts_with("~/") || text.find("://") != text.npos;
}

nlohmann::json known_value(const nlohmann::json& value) {
  if (!value.is_string()) return value;
  const auto& text = value.get_ref<const std::string&>();
  if (const std::optional<double> number = to_number(text); number && std::isfinite(*number))
    return *number;
  return std::string(first_bytes(mend_utf8(text), longest_parameter));
}

}  // namespace

void add_parameter(const std::string& name, const nlohmann::json& value, Trial& trial) {
  if (value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty())) return;
  if (value.is_object()) {
    for (const auto& [key, one] : value.items()) add_parameter(cat(name, ".", key), one, trial);
    return;
  }
  const FactKind kind = is_seed(name)         ? FactKind::means
                        : names_the_run(name) ? FactKind::note
                                              : FactKind::work;
  const std::string fact = cat("param.", mend_utf8(name));
  (is_place(name, value) ? trial.paths : trial.facts)[fact] = {kind, known_value(value)};
}

void add_tracked_state(const std::string& state, Trial& trial) {
  if (state.empty()) return;
  trial.state = in_lower_case(state);
  if (trial.state != "finished") trial.cautions.push_back(cat("its state is ", trial.state));
}

void tell_what_is_tracked(Trial& trial) {
  const auto told = std::find_if(
      trial.cautions.begin(), trial.cautions.end(),
      [](const std::string& one) { return one.starts_with("a log of another program"); });
  if (told == trial.cautions.end()) return;
  const auto is_parameter = [](const auto& fact) { return fact.first.starts_with("param."); };
  const bool some = std::any_of(trial.facts.begin(), trial.facts.end(), is_parameter);
  *told = cat("a run of another program: its data, batch and devices are not known, nor ",
              some ? "the parameters that it did not log" : "its parameters");
}

}  // namespace lockstep
