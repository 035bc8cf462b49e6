// Two groups of trials against each other: what differs, how far the measurements are apart, and
// what may be said of it. docs/design/report.md says by which rules.
#pragma once

#include "report/facts.h"
#include "stats/comparison.h"
#include "stats/counts.h"
#include "stats/signed_rank.h"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// What B is, against A.
enum class Conclusion {
  faster,
  slower,
  better,
  worse,
  less,  // memory, energy; and where it is not known which of less and more is good
  more,
  same,  // no difference at the margin
  inconclusive,
  not_comparable
};
const char* to_string(Conclusion conclusion);  // "faster", "no difference", "not comparable"

struct CompareOptions {
  double margin = 0.02;  // relative; of a quality, relative to the mean of A
  double confidence = 0.95;
  std::optional<double> loss;        // that "time to" goes to; nothing: the worst of the bests
  std::string by;                    // the quantity that decides; "": see `deciding`
  std::vector<std::string> varied;   // facts whose difference is the question; "precision"
  std::vector<std::string> assumed;  // facts that are not known and taken to be equal
  std::map<std::string, Better> better{};  // of metrics by name
  bool paired = false;  // trials of one place in both sides were measured in turn
  // Of the quantity `by`, where it is a difference: in its own unit, in place of `margin`.
  std::optional<double> by_margin{};
  std::string command{};  // that asked, "lockstep compare a b", for what to type next; or ""
};

struct Difference {
  std::string key;
  FactKind kind = FactKind::note;
  nlohmann::json a, b;         // a list where the trials of a side are not all the same
  bool within = false;         // … and that is so on one side at least
  bool varied = false;         // asked for, so that it blocks nothing
  std::vector<Aspect> blocks;  // what is not comparable because of it
  bool blocks_totals = false;  // likewise, of Quantity::total
  std::string text;            // "optimizer.lr 0.001 against 0.0003"
};

struct UnknownFact {
  std::string key;
  FactKind kind = FactKind::note;
  bool in_a = false, in_b = false;  // where it is not known
  bool assumed = false;
  std::vector<Aspect> blocks;
};

// What cannot be true, or explains all else.
struct RedFlag {
  std::string name;  // "faster_with_more_work"
  std::string text;
};

struct QuantityRow {
  Quantity what;  // without a value
  // A value per trial that has one, in the order of the trials; where paired, NaN for one that has
  // none.
  std::vector<double> a, b;
  std::string per;  // "epoch": of a total, divided by an amount; else ""
  Contrast contrast;
  std::optional<Interval> bootstrap;  // with 20 trials or more on each side
  Conclusion conclusion = Conclusion::inconclusive;
  std::optional<int> repeats_needed;
  std::vector<std::string> reasons;  // why it is not comparable
  std::string text;                  // "slower", "inconclusive: would need about 12 repeats"
};

// Jobs that failed, of all.
struct CountRow {
  std::string name;  // "failed"
  Count a, b;
  // Of jobs that both sides have, one trial each: those that failed on one side alone.
  std::optional<OneSided> one_sided{};
  // Clopper-Pearson, and McNemar's exact test of jobs that both sides have, else Fisher's. NaN
  // where a side has several trials: the same jobs again are not other jobs.
  Interval share_a, share_b;
  double p = 1;
  std::string test{};  // "McNemar's exact test", "Fisher's exact test"; "" none
  Conclusion conclusion = Conclusion::inconclusive;
  std::string text;
};

// A job that both sides have. Of several trials a side, the first, but for the outcome.
struct JobRow {
  std::string name;
  std::string state_a, state_b;
  double seconds_a = 0, seconds_b = 0;                       // 0: it did not run
  std::map<std::string, std::pair<double, double>> results;  // numbers that both reported
  // Whether the same came out, where it is done on both sides and that is known.
  enum class Outcome { unknown, other, same_results, same_model } outcome = Outcome::unknown;
};

// A quality that jobs of both sides reported, job by job: B - A.
struct JobPairs {
  std::string name;  // "test.auc"
  SignedRank ranks;
  double median = 0;
};

struct JobsMatched {
  bool any = false;  // both sides are batches
  std::int64_t matched = 0, only_a = 0, only_b = 0;
  std::string by;  // "parameters" or "name"
  std::vector<JobRow> rows;
  std::vector<JobPairs> pairs{};  // where each side is one batch
};

struct Comparison {
  TrialGroup a, b;
  CompareOptions options;
  std::optional<double> loss;  // that "time to" went to
  std::vector<RedFlag> flags;
  std::vector<Difference> differences;  // those that decide first
  std::vector<UnknownFact> unknown;
  std::vector<std::string> equal;  // facts that are known and the same
  std::vector<QuantityRow> rows;
  std::vector<CountRow> counts;
  JobsMatched jobs;
  std::string by;  // name of the row that decides; "" where nothing was measured on both sides
  Conclusion conclusion = Conclusion::inconclusive;
  std::string verdict;               // a sentence
  std::vector<std::string> reasons;  // why not comparable
  // What --varied would have to name for a verdict, and what it would then be about: "time 1.640 ×,
  // with more work". Empty: there is a verdict, or more is in its way.
  std::vector<std::string> could_vary{};
  std::string if_varied{};
};

// Throws Error where a fact that options name is none, `by` was not measured, or nothing was
// evaluated that could get to `loss`.
Comparison compare(TrialGroup a, TrialGroup b, const CompareOptions& options);

// For CI. 0: not slower (worse) by `threshold` or more; 1: it is; 2: that cannot be told.
int exit_code_of(const Comparison& comparison, double threshold);

// docs/reference/comparison.md
nlohmann::json comparison_json(const Comparison& comparison);
// For a terminal of that width; ends with a newline.
std::string comparison_text(const Comparison& comparison, int width);

}  // namespace lockstep
