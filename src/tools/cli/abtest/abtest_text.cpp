#include "tools/cli/abtest/abtest_text.h"

#include <cmath>

#include "core/base/text/columns.h"
#include "core/base/text/text.h"

namespace lockstep::cli {
namespace {

std::string value_text(const std::string& key, double value) {
  if (!std::isfinite(value)) return "-";
  if (key == "wall_s" || key == "cpu_s") return format_seconds(value);
  return key == "peak_bytes" ? format_bytes(value) : general(value, 5);
}

// A ratio near 1 gets more digits, because its distance from 1 matters.
std::string shift_text(Scale scale, double value) {
  if (!std::isfinite(value)) return "-";
  if (scale == Scale::difference) return general(value, 4);
  return std::abs(value - 1) < 0.1 ? fixed(value, 4) : general(value, 4);
}

std::string width_text(Scale scale, double half) {
  return scale == Scale::ratio ? general(100 * std::expm1(half), 2) + " %" : general(half, 2);
}

const char* shift_name(Scale scale) { return scale == Scale::ratio ? "B / A" : "B - A"; }

std::vector<std::string> table_row(const AbtestRow& row) {
  const Contrast& found = row.contrast;
  std::string interval = cat(shift_text(found.scale, found.interval.low), " to ",
                             shift_text(found.scale, found.interval.high));
  if (!found.unknown.empty()) interval = "-";
  std::string note;
  if (row.bootstrap)
    note = cat(shift_text(found.scale, row.bootstrap->low), " to ",
               shift_text(found.scale, row.bootstrap->high));
  return {row.name,
          value_text(row.key, found.mean_a),
          value_text(row.key, found.mean_b),
          shift_text(found.scale, found.interval.estimate),
          interval,
          note};
}

std::string table_of(const AbtestResult& result) {
  std::vector<std::vector<std::string>> rows{
      {"", "A", "B", shift_name(result.main().scale), "95 % interval", "by bootstrap (BCa)"}};
  bool has_bootstrap = false;
  for (const AbtestRow& row : result.rows) {
    // for example, memory that is too small to be measured
    if (row.contrast.count_a == 0) continue;
    rows.push_back(table_row(row));
    has_bootstrap = has_bootstrap || row.bootstrap.has_value();
  }
  if (!has_bootstrap)
    for (std::vector<std::string>& row : rows) row.pop_back();
  return columns(rows);
}

std::string verdict_line(const AbtestSetup& setup, const AbtestResult& result) {
  const Contrast& found = result.main();
  if (result.verdict.starts_with("inconclusive")) return result.verdict;
  const std::string interval = cat(shift_text(found.scale, found.interval.low), " to ",
                                   shift_text(found.scale, found.interval.high));
  const std::string shift = shift_text(found.scale, found.interval.estimate);
  const std::string measure = setup.metric ? "metric" : "time";
  if (result.verdict.starts_with("no difference"))
    return cat(result.verdict, ": ", shift_name(found.scale), " is ", shift, " (", interval, ")");
  return cat("B is ", result.verdict, ": ",
             found.scale == Scale::ratio ? cat(shift, " times the ", measure, " of A (")
                                         : cat(shift, " from A ("),
             interval, ")");
}

std::string gate_line(const AbtestSetup& setup, const AbtestResult& result) {
  const std::string limit = margin_text(Scale::ratio, *setup.fail_if_slower);
  const char* const word = setup.metric ? "worse" : "slower";
  if (!result.is_slower) return cat("whether B is ", word, " by more than ", limit, " is open\n");
  return cat("B is ", *result.is_slower ? "" : "not ", word, " by more than ", limit, "\n");
}

std::string how_line(const AbtestSetup& setup, const AbtestTrial& trial,
                     const AbtestResult& result) {
  const AbtestSpec& spec = setup.trial;
  const std::size_t pairs = trial.pairs.size();
  const std::string order =
      spec.order == PairOrder::balanced ? cat("in turn (seed ", spec.seed, ")") : "always A first";
  return cat(pairs, pairs == 1 ? " pair " : " pairs ", order, " after ", spec.warmup,
             spec.warmup == 1 ? " warm-up" : " warm-ups", " of each, ", result.main().method,
             "; it ended because ", end_text(trial.end), "\n");
}

}  // namespace

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 0.9995) return general(1000 * seconds, 3) + " ms";
  return general(seconds, seconds < 100 ? 3 : 4) + " s";
}

std::string end_text(AbtestEnd end) {
  switch (end) {
    case AbtestEnd::narrow:
      return "the interval is narrow enough";
    case AbtestEnd::repeats:
      return "all repeats are done";
    case AbtestEnd::budget:
      return "its budget of time is used up";
    case AbtestEnd::interrupted:
      return "it was interrupted";
  }
  return "";
}

std::string pair_line(const AbtestSetup& setup, const AbtestTrial& trial,
                      const Contrast& contrast) {
  const AbtestPair& pair = trial.pairs.back();
  const std::string key = setup.metric ? "metric" : "wall_s";
  std::string line = cat("pair ", trial.pairs.size(), "  A ", value_text(key, pair.a.value), "  B ",
                         value_text(key, pair.b.value), "  ", shift_name(contrast.scale), " ",
                         shift_text(contrast.scale, contrast.interval.estimate));
  if (const double half = half_width(contrast); std::isfinite(half)) {
    const StoppingRule& rule = setup.trial.rule;
    line += cat(" ± ", width_text(contrast.scale, half), ", ends at ± ",
                width_text(rule.scale, narrow_share * margin_width(rule.scale, rule.margin)));
  }
  return line;
}

std::string abtest_text(const AbtestSetup& setup, const AbtestTrial& trial,
                        const AbtestResult& result) {
  std::string text;
  for (const std::string& flag : result.flags) text += cat("flag: ", flag, "\n");
  text += cat(text.empty() ? "" : "\n", "A: ", setup.a.text, "\nB: ", setup.b.text, "\n\n");
  if (trial.pairs.empty()) return text + "no pair was measured\n";
  text += table_of(result) + "\n" + verdict_line(setup, result) + "\n";
  if (setup.fail_if_slower) text += gate_line(setup, result);
  return text + how_line(setup, trial, result);
}

}  // namespace lockstep::cli
