// Compares two groups of trials: their differences, how far the measurements are apart, and the
// conclusion. docs/design/report.md gives the rules.
#pragma once

#include "tools/report/facts/facts.h"
#include "tools/stats/comparison.h"
#include "tools/stats/counts.h"
#include "tools/stats/signed_rank.h"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// B's relation to A.
enum class Conclusion {
  faster,
  slower,
  better,
  worse,
  less,  // for memory, energy, and quantities where it is unknown whether less or more is better
  more,
  same,  // no difference at the margin
  inconclusive,
  not_comparable
};
const char* to_string(Conclusion conclusion);  // "faster", "no difference", "not comparable"

struct CompareOptions {
  double margin = 0.02;  // relative; for a quality, relative to the mean of A
  double confidence = 0.95;
  std::optional<double> loss;        // target of "time to"; nothing: the worst of the best values
  std::string by;                    // the deciding quantity; "": see `deciding`
  std::vector<std::string> varied;   // facts whose difference is the question, such as "precision"
  std::vector<std::string> assumed;  // unknown facts that are assumed equal
  std::map<std::string, Better> better{};  // by name of the metric
  bool paired = false;  // trials at the same position in both sides were measured in turn
  // For the quantity `by`, if it is a difference: a margin in its own unit, instead of `margin`.
  std::optional<double> by_margin{};
  std::string command{};  // the user's command, "lockstep compare a b", for suggestions; or ""
};

struct Difference {
  std::string key;
  FactKind kind = FactKind::note;
  nlohmann::json a, b;         // a list if the trials of a side differ
  bool within = false;         // the trials of at least one side differ
  bool varied = false;         // requested by the user, so it blocks nothing
  std::vector<Aspect> blocks;  // aspects that are not comparable because of it
  bool blocks_totals = false;  // the same for Quantity::total
  std::string text;            // "optimizer.lr 0.001 against 0.0003"
};

struct UnknownFact {
  std::string key;
  FactKind kind = FactKind::note;
  bool in_a = false, in_b = false;  // sides where it is unknown
  bool assumed = false;
  std::vector<Aspect> blocks;
};

// A sign that a result cannot be true, or that one fact explains all other differences.
struct RedFlag {
  std::string name;  // "faster_with_more_work"
  std::string text;
};

struct QuantityRow {
  Quantity what;  // without its value
  // A value per trial that has one, in the order of the trials; if paired, NaN for a trial without
  // one.
  std::vector<double> a, b;
  std::string per;  // "epoch": the unit that a total was divided by; else ""
  Contrast contrast;
  std::optional<Interval> bootstrap;  // only with 20 trials or more on each side
  Conclusion conclusion = Conclusion::inconclusive;
  std::optional<int> repeats_needed;
  std::vector<std::string> reasons;  // why the quantity is not comparable
  std::string text;                  // "slower", "inconclusive: would need about 12 repeats"
};

// Counted jobs, such as failed ones, among all.
struct CountRow {
  std::string name;  // "failed"
  Count a, b;
  // For jobs that both sides have, with one trial each: those that failed on one side only.
  std::optional<OneSided> one_sided{};
  // share: Clopper-Pearson intervals. p: McNemar's exact test for jobs that both sides have,
  // otherwise Fisher's. NaN if a side has several trials, because repeats of a job are no further
  // jobs.
  Interval share_a, share_b;
  double p = 1;
  std::string test{};  // "McNemar's exact test", "Fisher's exact test"; "": none
  Conclusion conclusion = Conclusion::inconclusive;
  std::string text;
};

// A job that both sides have. If a side has several trials, the values come from the first, and
// `outcome` from all.
struct JobRow {
  std::string name;
  std::string state_a, state_b;
  double seconds_a = 0, seconds_b = 0;                       // 0: it did not run
  std::map<std::string, std::pair<double, double>> results;  // numbers that both sides reported
  // Whether both sides gave the same result, if the job is done on both and that is known.
  enum class Outcome { unknown, other, same_results, same_model } outcome = Outcome::unknown;
};

// A quality that jobs of both sides reported: its differences B - A, job by job.
struct JobPairs {
  std::string name;  // "test.auc"
  SignedRank ranks;
  double median = 0;
};

struct JobsMatched {
  bool any = false;  // true if both sides are batches
  std::int64_t matched = 0, only_a = 0, only_b = 0;
  std::string by;  // "parameters" or "name"
  std::vector<JobRow> rows;
  std::vector<JobPairs> pairs{};  // only if each side is one batch
  // Results "used.NAME" that differ in some job whose outcome is the same.
  std::set<std::string> changed_nothing{};
};

struct Comparison {
  TrialGroup a, b;
  CompareOptions options;
  std::optional<double> loss;  // the loss used for "time to"
  std::vector<RedFlag> flags;
  std::vector<Difference> differences;  // the most decisive first
  std::vector<UnknownFact> unknown;
  std::vector<std::string> equal;  // known facts that are equal
  std::vector<QuantityRow> rows;
  std::vector<CountRow> counts;
  JobsMatched jobs;
  std::string by;  // name of the deciding row; "" if nothing was measured on both sides
  Conclusion conclusion = Conclusion::inconclusive;
  std::string verdict;               // a sentence
  std::vector<std::string> reasons;  // why it is not comparable
  // The facts that --varied would have to name for a verdict, and the comparison that this gives:
  // "time 1.640 ×, with more work". Empty if there is a verdict, or if that would not suffice.
  std::vector<std::string> could_vary{};
  std::string if_varied{};
};

// Throws Error if an option names no known fact, if `by` was not measured, or if nothing was
// evaluated that could reach `loss`.
Comparison compare(TrialGroup a, TrialGroup b, const CompareOptions& options);

// The exit code for CI. 0: B is not slower (worse) by `threshold` or more; 1: it is; 2: undecided.
int exit_code_of(const Comparison& comparison, double threshold);

// The format is docs/reference/comparison.md.
nlohmann::json comparison_json(const Comparison& comparison);
// Text for a terminal of that width; ends with a newline.
std::string comparison_text(const Comparison& comparison, int width);

}  // namespace lockstep
