#include "tools/report/facts/facts.h"

#include <array>
#include <cmath>
#include <utility>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr std::array<std::pair<FactKind, const char*>, 5> kind_words = {
    {{FactKind::work, "work"},
     {FactKind::amount, "amount"},
     {FactKind::means, "means"},
     {FactKind::place, "place"},
     {FactKind::note, "note"}}};

// For example, 16000 as "16,000".
std::string with_commas(const std::string& digits) {
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') text += ',';
    text += digits[i];
  }
  return text;
}

std::string number_text(double value) {
  constexpr double exact = 1e13, six_digits = 1e6;
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "inf" : "-inf";
  const double size = std::abs(value);
  if (size < exact && (size >= six_digits || value == std::floor(value)))
    return with_commas(fixed(value, 0));
  return general(value, 6);
}

// Replaces numbers that are not finite with the texts "NaN", "inf" and "-inf". NaN would differ
// from itself. JSON would store null for these numbers, and null means unknown.
void name_not_finite(nlohmann::json& value) {
  if (value.is_structured()) {
    for (nlohmann::json& item : value) name_not_finite(item);
  } else if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    value = number_text(value.get<double>());
  }
}

std::string list_text(const nlohmann::json& list) {
  constexpr std::size_t most = 4;
  std::vector<std::string> parts;
  for (const nlohmann::json& item : list) {
    if (parts.size() == most) {
      parts.push_back(cat("… (", list.size(), ")"));
      break;
    }
    parts.push_back(fact_text(item));
  }
  return list.empty() ? "none" : join(parts, ", ");
}

std::string seconds_text(double s) {
  const double size = std::abs(s);
  if (size == 0) return "0 s";
  if (size < 1e-3) return general(s * 1e6, 4) + " us";
  if (size < 1) return general(s * 1e3, 4) + " ms";
  if (size < 600) return general(s, 4) + " s";
  if (size < 7200) return general(s / 60, 4) + " min";
  return general(s / 3600, 4) + " h";
}

std::string joules_text(double joules) {
  const double size = std::abs(joules);
  if (size >= 3.6e6) return general(joules / 3.6e6, 4) + " kWh";
  return size >= 1e4 ? general(joules / 1e3, 4) + " kJ" : general(joules, 4) + " J";
}

}  // namespace

const char* to_string(FactKind kind) { return kind_words[static_cast<std::size_t>(kind)].second; }

std::optional<FactKind> fact_kind(std::string_view word) {
  for (const auto& [kind, name] : kind_words)
    if (word == name) return kind;
  return std::nullopt;
}

const char* to_string(Better better) {
  return better == Better::lower ? "lower" : better == Better::higher ? "higher" : "unknown";
}

const char* to_string(Aspect aspect) {
  constexpr std::array<const char*, 6> words = {"time",   "goal",   "quality",
                                                "memory", "energy", "use"};
  return words[static_cast<std::size_t>(aspect)];
}

const Quantity* Trial::find(std::string_view name) const {
  for (const Quantity& quantity : quantities)
    if (quantity.name == name) return &quantity;
  return nullptr;
}

nlohmann::json Trial::value(const std::string& fact) const {
  const auto found = facts.find(fact);
  return found == facts.end() ? nlohmann::json() : found->second.value;
}

double Trial::number(const std::string& fact) const {
  const nlohmann::json found = value(fact);
  return found.is_number() ? found.get<double>() : NAN;
}

void Trial::set(const std::string& fact, FactKind kind, nlohmann::json value) {
  name_not_finite(value);
  facts[fact] = {kind, std::move(value)};
}

void Trial::measure(Quantity quantity, std::optional<double> value) {
  if (!value) return;
  quantity.value = *value;
  quantities.push_back(std::move(quantity));
}

std::string fact_text(const nlohmann::json& value) {
  if (value.is_null()) return "unknown";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) return number_text(value.get<double>());
  if (value.is_string()) {
    constexpr std::size_t hash_digits = 32, shown = 8;
    const std::string text = value.get<std::string>();
    const bool hash =
        text.size() >= hash_digits && text.find_first_not_of("0123456789abcdef") == text.npos;
    return text.empty() ? "none" : hash ? text.substr(0, shown) + "…" : printable(text);
  }
  if (value.is_array()) return list_text(value);
  return cat(value.size(), value.size() == 1 ? " value" : " values");
}

std::string quantity_text(double value, const std::string& unit) {
  if (!std::isfinite(value)) return number_text(value);
  if (unit == "s") return seconds_text(value);
  if (unit == "bytes") return format_bytes(value);
  if (unit == "J") return joules_text(value);
  if (unit == "%") return fixed(value, 1) + " %";
  return general(value, 5);
}

}  // namespace lockstep
