// Reads and writes valence and arousal.
#include "recipes/dimabsa/sentences/scores/va.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/text/text.h"

namespace lockstep::dimabsa {
namespace {

std::optional<double> parse_number(std::string_view text) {
  const std::string word = trim(text);
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || error != std::errc() || end != word.data() + word.size() ||
      !std::isfinite(number))
    return std::nullopt;
  return number;
}

double clamped_number(double number) {
  constexpr double middle = (least_va + largest_va) / 2;
  return std::isfinite(number) ? std::clamp(number, least_va, largest_va) : middle;
}

}  // namespace

std::optional<ValenceArousal> parse_va(std::string_view text) {
  const std::size_t hash = text.find('#');
  if (hash == text.npos) return std::nullopt;
  const auto valence = parse_number(text.substr(0, hash));
  const auto arousal = parse_number(text.substr(hash + 1));
  if (!valence || !arousal) return std::nullopt;
  return ValenceArousal{*valence, *arousal};
}

bool in_range(const ValenceArousal& va) {
  const auto fits = [](double number) { return number >= least_va && number <= largest_va; };
  return fits(va.valence) && fits(va.arousal);
}

ValenceArousal clamped(const ValenceArousal& va) {
  return {clamped_number(va.valence), clamped_number(va.arousal)};
}

std::string format_va(const ValenceArousal& va) {
  const ValenceArousal within = clamped(va);
  return fixed(within.valence, 2) + "#" + fixed(within.arousal, 2);
}

double distance(const ValenceArousal& a, const ValenceArousal& b) {
  const double valence = a.valence - b.valence, arousal = a.arousal - b.arousal;
  return std::sqrt(valence * valence + arousal * arousal);
}

}  // namespace lockstep::dimabsa
