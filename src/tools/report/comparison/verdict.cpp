#include "tools/report/comparison/verdict.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/report/facts/option_kinds.h"

namespace lockstep {
namespace {

constexpr std::array<const char*, 9> conclusion_words = {
    "faster", "slower",        "better",       "worse",         "less",
    "more",   "no difference", "inconclusive", "not comparable"};

Conclusion conclusion_of(FoundDifference finding, const Quantity& what) {
  if (finding == FoundDifference::same) return Conclusion::same;
  if (finding == FoundDifference::inconclusive) return Conclusion::inconclusive;
  const bool less = finding == FoundDifference::less;
  const bool quality = what.aspect == Aspect::quality || what.aspect == Aspect::use;
  if (what.better == Better::unknown || what.aspect == Aspect::memory ||
      what.aspect == Aspect::energy)
    return less ? Conclusion::less : Conclusion::more;
  const bool good = less == (what.better == Better::lower);
  if (quality) return good ? Conclusion::better : Conclusion::worse;
  return good ? Conclusion::faster : Conclusion::slower;
}

std::string repeats_text(int repeats) {
  return cat("inconclusive: would need ",
             repeats < most_repeats ? cat("about ", fact_text(repeats)) : repeats_words(repeats),
             " repeats");
}

std::string inconclusive_text(const QuantityRow& row) {
  const int fewest = std::min(row.contrast.count_a, row.contrast.count_b);
  if (row.repeats_needed && *row.repeats_needed > fewest) return repeats_text(*row.repeats_needed);
  if (row.contrast.unknown.empty()) return "inconclusive";
  if (fewest == 1) return "inconclusive: one repeat on a side has no interval";
  return cat("inconclusive: ", row.contrast.unknown);
}

bool has_own_margin(const QuantityRow& row, const CompareOptions& options) {
  return options.by_margin && row.what.scale == Scale::difference && row.what.name == options.by;
}

// The margin of a quantity. For differences, it is relative to A's mean. If that mean is 0, only
// equal values are the same.
double margin_of(const QuantityRow& row, const CompareOptions& options) {
  if (row.what.scale == Scale::ratio) return options.margin;
  if (has_own_margin(row, options)) return *options.by_margin;
  const double base = std::abs(row.contrast.mean_a);
  constexpr double least = 1e-300;
  return std::max(options.margin * (std::isfinite(base) ? base : 0), least);
}

// Whether each side has at least two values, and all values of a side are equal.
bool do_not_vary(const QuantityRow& row) {
  const auto same = [](const std::vector<double>& values) {
    return values.size() > 1 && std::all_of(values.begin(), values.end(),
                                            [&](double value) { return value == values[0]; });
  };
  return same(row.a) && same(row.b);
}

bool all_the_same(const QuantityRow& row) { return do_not_vary(row) && row.a[0] == row.b[0]; }

// Whether the repeats are copies. Training again with the same seed gives the same result, so it
// says nothing about random variation.
bool repeats_nothing(const QuantityRow& row) {
  return row.what.aspect == Aspect::quality && do_not_vary(row) && row.a[0] != row.b[0];
}

// For example, "1 of 3 values of A". "" if all values are finite numbers.
std::string no_numbers(const std::vector<double>& values, char side) {
  const auto bad = std::count_if(values.begin(), values.end(),
                                 [](double value) { return !std::isfinite(value); });
  return bad == 0 ? "" : cat(bad, " of ", values.size(), " values of ", side);
}

// Why comparable values allow no conclusion. "" if they allow one.
std::string open_because(const QuantityRow& row, const CompareOptions& options) {
  if (row.what.aspect != Aspect::quality || options.paired) return "";
  if (repeats_nothing(row)) return "the repeats are the same to the last digit, as with one seed";
  // A training that diverged is a result. It must not be dropped as a missing repeat.
  const std::string a = no_numbers(row.a, 'A'), b = no_numbers(row.b, 'B');
  if (a.empty() && b.empty()) return "";
  return cat(a, a.empty() || b.empty() ? "" : " and ", b, " are no finite numbers");
}

// The differences that the user asked for, and differences of means, as a suffix of a verdict.
std::string with_text(const Comparison& comparison) {
  constexpr std::size_t most = 4;
  std::vector<std::string> texts;
  for (const Difference& difference : comparison.differences)
    if (difference.varied || (difference.kind == FactKind::means && !is_seed(difference.key)) ||
        (difference.kind == FactKind::work && difference.blocks.size() < 5))
      texts.push_back(difference.text);
  for (const UnknownFact& fact : comparison.unknown)
    if (fact.assumed) texts.push_back(cat(fact.key, " taken to be equal"));
  if (texts.empty()) return "";
  const std::size_t more = texts.size() > most ? texts.size() - most : 0;
  texts.resize(std::min(texts.size(), most));
  return cat("; with ", join(texts, ", "), more > 0 ? cat(" and ", more, " more") : "");
}

std::string number_sentence(const QuantityRow& row) {
  const Interval& interval = row.contrast.interval;
  if (!std::isfinite(interval.estimate)) return row.what.title;
  const bool ratio = row.contrast.scale == Scale::ratio;
  const auto number = [&](double value) {
    return ratio ? fixed(value, 3) : quantity_text(value, row.what.unit);
  };
  std::string text = cat(row.what.title, " ", number(interval.estimate), ratio ? " ×" : " apart");
  if (std::isfinite(interval.low))
    text += cat(" (", number(interval.low), " to ", number(interval.high), ")");
  return text;
}

// The first of these quantities that both sides have. Times for which a user waits come first.
const QuantityRow* deciding(const Comparison& comparison) {
  for (const char* name : {"step_s", "wall_s", "train_s"})
    for (const QuantityRow& row : comparison.rows)
      if (row.what.name == name && row.per.empty()) return &row;
  for (const Aspect aspect : {Aspect::time, Aspect::quality})
    for (const QuantityRow& row : comparison.rows)
      if (row.what.aspect == aspect && row.per.empty()) return &row;
  return comparison.rows.empty() ? nullptr : &comparison.rows.front();
}

const QuantityRow* chosen_row(const Comparison& comparison) {
  if (comparison.options.by.empty()) return deciding(comparison);
  std::vector<std::string> names, whole;
  for (const QuantityRow& row : comparison.rows) {
    names.push_back(row.what.name);
    if (row.per.empty()) whole.push_back(row.what.name);
  }
  const std::string name = full_name(comparison.options.by, whole);
  for (const QuantityRow& row : comparison.rows)
    if (row.per.empty() && row.what.name == name) return &row;
  const std::string near = nearest(comparison.options.by, names);
  throw Error(
      cat("--by ", printable(comparison.options.by), " was not measured on both sides"),
      near.empty() ? cat("these were: ", join(names, ", ")) : cat("did you mean ", near, "?"));
}

bool is_unknown(const Comparison& comparison, Aspect aspect) {
  return std::any_of(
      comparison.unknown.begin(), comparison.unknown.end(), [&](const UnknownFact& fact) {
        return std::find(fact.blocks.begin(), fact.blocks.end(), aspect) != fact.blocks.end();
      });
}

// Whether a larger value means more work, judged by the last part of the name.
bool grows_with_work(const std::string& key) {
  constexpr std::array names{"num_leaves",     "num_iterations",   "layers",
                             "width",          "context",          "parameters",
                             "flops_per_step", "flops_per_sample", "global_batch"};
  const std::string name = key.substr(key.rfind('.') + 1);
  return std::find(names.begin(), names.end(), name) != names.end();
}

// For example, ", with more work" if B has more of everything that differs.
std::string more_or_less_work(const std::vector<const Difference*>& differences) {
  std::size_t more = 0, less = 0;
  for (const Difference* const one : differences) {
    if (!grows_with_work(one->key) || !one->a.is_number() || !one->b.is_number()) return "";
    ++(one->b.get<double>() > one->a.get<double>() ? more : less);
  }
  return more == differences.size()   ? ", with more work"
         : less == differences.size() ? ", with less work"
                                      : "";
}

// Suggests --varied if only parameters or the place prevent a comparison. With different data or
// amounts, times are never comparable, so nothing is suggested.
void say_what_could_vary(Comparison& comparison, const QuantityRow& row) {
  constexpr std::size_t most_named = 6;
  if (is_unknown(comparison, row.what.aspect)) return;
  std::vector<const Difference*> work;
  std::vector<std::string> keys, places;
  for (const Difference& difference : comparison.differences) {
    if (!is_in_the_way(difference, row.what)) continue;
    const bool is_work = difference.kind == FactKind::work;
    if (difference.blocks_totals || is_of_data(difference.key) || difference.key == "job_list")
      return;
    (is_work ? keys : places).push_back(difference.key);
    if (is_work) work.push_back(&difference);
  }
  if (keys.size() > most_named) keys = {"options"};
  keys.insert(keys.end(), places.begin(), places.end());
  if (keys.empty()) return;
  comparison.could_vary = comparison.options.varied;
  comparison.could_vary.insert(comparison.could_vary.end(), keys.begin(), keys.end());
  comparison.if_varied = cat(number_sentence(row), work.empty() ? "" : more_or_less_work(work));
}

// A chance of 0 is impossible. The value is below the smallest number.
std::string p_words(double p) { return p > 0 ? cat("= ", general(p, 2)) : "< 1e-300"; }

}  // namespace

const char* to_string(Conclusion conclusion) {
  return conclusion_words[static_cast<std::size_t>(conclusion)];
}

void judge(QuantityRow& row, std::vector<std::string> reasons, const CompareOptions& options) {
  const bool paired = options.paired && row.a.size() == row.b.size();
  row.contrast =
      (paired ? paired_contrast : contrast)(row.what.scale, row.a, row.b, options.confidence);
  row.reasons = std::move(reasons);
  if (!row.reasons.empty()) {
    row.conclusion = Conclusion::not_comparable;
    row.text = cat("not comparable: ", join(row.reasons, "; "));
    return;
  }
  if (const std::string why = open_because(row, options); !why.empty()) {
    row.conclusion = Conclusion::inconclusive;
    row.text = cat("inconclusive: ", why);
    return;
  }
  const double margin = margin_of(row, options);
  row.conclusion =
      all_the_same(row) ? Conclusion::same : conclusion_of(find(row.contrast, margin), row.what);
  row.text = to_string(row.conclusion);
  if (row.conclusion == Conclusion::same)
    row.text = cat("no difference at a margin of ",
                   has_own_margin(row, options) ? general(margin, 4)
                                                : cat(general(options.margin * 100, 3), " %"));
  if (row.conclusion != Conclusion::inconclusive) return;
  row.repeats_needed = repeats_needed(row.contrast, margin, options.confidence);
  row.text = inconclusive_text(row);
}

CountRow judge_counts(const std::string& name, const CountedJobs& jobs, double confidence) {
  const Count &a = jobs.a, &b = jobs.b;
  CountRow row{.name = name, .a = a, .b = b, .one_sided = jobs.one_sided};
  if (jobs.repeated) {
    row.share_a = row.share_b = {NAN, NAN, NAN};
    row.p = NAN;
    row.text = cat(b.hits, " of ", b.all, " against ", a.hits, " of ", a.all,
                   " in all repeats (no test: the same jobs again are not other jobs)");
    return row;
  }
  row.share_a = share_interval(a, confidence);
  row.share_b = share_interval(b, confidence);
  const auto& pairs = jobs.one_sided;
  row.p = pairs ? mcnemar_p(*pairs) : fisher_p(a, b);
  row.test = pairs ? "McNemar's exact test" : "Fisher's exact test";
  const FoundDifference finding = pairs ? find(*pairs, confidence) : find(a, b, confidence);
  row.conclusion = finding == FoundDifference::more   ? Conclusion::worse
                   : finding == FoundDifference::less ? Conclusion::better
                                                      : Conclusion::inconclusive;
  const std::string word = finding == FoundDifference::more   ? cat("more ", name)
                           : finding == FoundDifference::less ? cat("fewer ", name)
                                                              : std::string("inconclusive");
  const std::string of = pairs ? cat(" of the ", pairs->a + pairs->b, " that differ") : "";
  row.text = cat(word, " (", b.hits, " of ", b.all, " against ", a.hits, " of ", a.all, ", ",
                 row.test, of, ": p ", p_words(row.p), ")");
  return row;
}

std::string full_name(const std::string& name, const std::vector<std::string>& names) {
  for (const std::string& whole : {name, cat("best.", name)})
    if (std::find(names.begin(), names.end(), whole) != names.end()) return whole;
  std::vector<std::string> fitting;
  for (const std::string& one : names)
    if (one.ends_with(cat(".", name))) fitting.push_back(one);
  if (fitting.size() > 1)
    throw Error(cat("--by ", printable(name), " may be ", join(fitting, " or ")),
                cat("write --by ", fitting[0]));
  return fitting.empty() ? "" : fitting[0];
}

void conclude(Comparison& comparison) {
  const QuantityRow* const row = chosen_row(comparison);
  if (row == nullptr) {
    comparison.conclusion = Conclusion::not_comparable;
    comparison.reasons = {"nothing was measured on both sides"};
    comparison.verdict = "not comparable: nothing was measured on both sides";
    return;
  }
  comparison.by = row->what.name;
  comparison.conclusion = row->conclusion;
  comparison.reasons = row->reasons;
  if (row->conclusion == Conclusion::not_comparable) {
    comparison.verdict = row->text;
    say_what_could_vary(comparison, *row);
  } else {
    comparison.verdict = cat(comparison.b.name, " against ", comparison.a.name, ": ", row->text,
                             "; ", number_sentence(*row), with_text(comparison));
  }
}

int exit_code_of(const Comparison& comparison, double threshold) {
  constexpr int no = 0, slower = 1, cannot_tell = 2;
  for (const QuantityRow& row : comparison.rows) {
    if (row.what.name != comparison.by || !row.per.empty()) continue;
    double low = row.contrast.interval.low, high = row.contrast.interval.high;
    if (row.conclusion == Conclusion::not_comparable || !std::isfinite(low) ||
        !open_because(row, comparison.options).empty())
      return cannot_tell;
    const bool ratio = row.contrast.scale == Scale::ratio;
    if (!ratio) {
      const double base = std::abs(row.contrast.mean_a);
      if (base == 0) return cannot_tell;
      low = 1 + low / base;
      high = 1 + high / base;
    }
    if (row.what.better == Better::unknown) return cannot_tell;
    if (row.what.better == Better::higher) {
      const double swapped = ratio ? 1 / high : 2 - high;
      high = ratio ? 1 / low : 2 - low;
      low = swapped;
    }
    return low > 1 + threshold ? slower : high < 1 + threshold ? no : cannot_tell;
  }
  return cannot_tell;
}

}  // namespace lockstep
