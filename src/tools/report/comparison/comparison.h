// Compares two groups of trials, A and B. The result has their differences, how far the
// measurements are apart, and a conclusion. docs/design/report.md gives the rules.
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

// The relation of B to A.
enum class Conclusion {
  faster,
  slower,
  better,
  worse,
  // `less` and `more` are for memory, energy, and quantities for which it is unknown whether less
  // or more is better.
  less,
  more,
  same,  // there is no difference larger than the margin
  inconclusive,
  not_comparable
};
// Returns the words for a conclusion, such as "faster", "no difference" or "not comparable".
const char* to_string(Conclusion conclusion);

struct CompareOptions {
  double margin = 0.02;  // a fraction; for a quality, relative to the mean of A
  double confidence = 0.95;
  // The value of the metric for the quantity "time to" (goal.h). If it is not set, the worst of the
  // trials' best values is used.
  std::optional<double> loss;
  // The quantity that decides the conclusion. If it is empty, a time decides, or a quality if no
  // time was measured.
  std::string by;
  // Facts that the user varied on purpose, such as "precision". Differences in these facts prevent
  // no comparison.
  std::vector<std::string> varied;
  std::vector<std::string> assumed;  // unknown facts that are assumed to be equal
  // whether lower or higher is better, by the metric's name
  std::map<std::string, Better> better{};
  // whether trials at the same position on both sides are a pair, measured one after the other
  bool paired = false;
  // A margin for the quantity `by` in its own unit, instead of `margin`. It applies only if that
  // quantity is compared by differences.
  std::optional<double> by_margin{};
  // the user's command for suggestions, such as "lockstep compare a b"; may be empty
  std::string command{};
};

struct Difference {
  std::string key;
  FactKind kind = FactKind::note;
  nlohmann::json a, b;         // a list of values if the trials of a side differ
  bool within = false;         // whether the trials of at least one side differ from each other
  bool varied = false;         // whether the user varied it on purpose; if so, `blocks` is empty
  std::vector<Aspect> blocks;  // aspects that cannot be compared because of this difference
  // whether quantities with Quantity::total cannot be compared because of this difference
  bool blocks_totals = false;
  std::string text;  // B against A: "optimizer.lr 0.001 against 0.0003"
};

struct UnknownFact {
  std::string key;
  FactKind kind = FactKind::note;
  bool in_a = false, in_b = false;  // whether the fact is unknown on side A, and on side B
  bool assumed = false;
  std::vector<Aspect> blocks;
};

// A sign that a result cannot be true, or that one fact explains all other differences.
struct RedFlag {
  std::string name;  // "faster_with_more_work"
  std::string text;
};

struct QuantityRow {
  Quantity what;  // the quantity without its value
  // The values of the trials that have one, in the order of the trials. If trials are paired, there
  // is a value for each trial, which is NaN if the trial has none.
  std::vector<double> a, b;
  std::string per;  // the unit by which a total was divided, such as "epoch"; else empty
  Contrast contrast;
  std::optional<Interval> bootstrap;  // set only with 20 values or more on each side
  Conclusion conclusion = Conclusion::inconclusive;
  std::optional<int> repeats_needed;
  // why the quantity cannot be compared; empty if it can be compared
  std::vector<std::string> reasons;
  std::string text;  // the result in words: "slower", "inconclusive: would need about 12 repeats"
};

// How many of all jobs are in a certain state, such as failed.
struct CountRow {
  std::string name;  // "failed"
  Count a, b;
  // The number of jobs that are in this state on one side only. Set if each side is a single batch.
  std::optional<OneSided> one_sided{};
  // share_a and share_b: Clopper-Pearson intervals. p: from McNemar's exact test if both sides have
  // the same jobs, and from Fisher's exact test otherwise. All are NaN if a side has several
  // trials, because repeats of a job do not count as different jobs.
  Interval share_a, share_b;
  double p = 1;
  std::string test{};  // "McNemar's exact test" or "Fisher's exact test"; empty without a test
  Conclusion conclusion = Conclusion::inconclusive;
  std::string text;
};

// A job that both sides have. If a side has several trials, the values come from its first trial,
// and `outcome` from all of them.
struct JobRow {
  std::string name;
  std::string state_a, state_b;
  double seconds_a = 0, seconds_b = 0;  // 0 if the job did not run
  // values in A and B of each number that both sides reported, by name
  std::map<std::string, std::pair<double, double>> results;
  // Whether both sides gave the same result. It is `unknown` if the job is not done on both sides,
  // or if its results cannot show it. It is `other` if the results differ.
  enum class Outcome { unknown, other, same_results, same_model } outcome = Outcome::unknown;
};

// A quality that jobs of both sides reported. It is compared job by job, as the difference B - A.
struct JobPairs {
  std::string name;  // such as "test.auc"
  SignedRank ranks;
  double median = 0;
};

struct JobsMatched {
  bool any = false;  // whether all trials of both sides are batches with jobs
  std::int64_t matched = 0, only_a = 0, only_b = 0;
  std::string by;  // how jobs were matched: "parameters" or "name"
  std::vector<JobRow> rows;
  std::vector<JobPairs> pairs{};  // set only if each side is a single batch
  // Names of results "used.NAME" that differ between matched jobs although their outcome is the
  // same.
  std::set<std::string> changed_nothing{};
};

struct Comparison {
  TrialGroup a, b;
  CompareOptions options;
  std::optional<double> loss;  // the value that was used for "time to"
  std::vector<RedFlag> flags;
  // the differences that affect the conclusion most come first
  std::vector<Difference> differences;
  std::vector<UnknownFact> unknown;
  std::vector<std::string> equal;  // names of known facts that are equal
  std::vector<QuantityRow> rows;
  std::vector<CountRow> counts;
  JobsMatched jobs;
  std::string by;  // name of the quantity that decides; empty if nothing was measured on both sides
  Conclusion conclusion = Conclusion::inconclusive;
  std::string verdict;               // the conclusion as a sentence
  std::vector<std::string> reasons;  // why the deciding quantity cannot be compared
  // The facts that --varied would have to name to get a verdict, and the comparison that would
  // result, such as "time 1.640 ×, with more work". Empty if there is a verdict, or if naming facts
  // would not suffice.
  std::vector<std::string> could_vary{};
  std::string if_varied{};
};

// Throws Error if a side has no trials, or if an option names an unknown fact or metric. Also
// throws Error if `by` was not measured on both sides. Also throws Error if `loss` is set and no
// common metric was evaluated.
Comparison compare(TrialGroup a, TrialGroup b, const CompareOptions& options);

// Returns the exit code for CI. It is 1 if B is slower (or worse) by more than `threshold`. It is 0
// if B is not slower or worse by that much, and 2 if that is undecided.
int exit_code_of(const Comparison& comparison, double threshold);

// Returns JSON in the format of docs/reference/comparison.md.
nlohmann::json comparison_json(const Comparison& comparison);
// Returns text for a terminal of that width. The text ends with a newline.
std::string comparison_text(const Comparison& comparison, int width);

}  // namespace lockstep
