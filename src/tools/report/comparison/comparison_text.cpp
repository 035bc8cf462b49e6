// Formats a comparison for a terminal: flags, verdict, table, and then the basis.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/text/cells.h"
#include "core/base/text/columns.h"
#include "core/base/text/text.h"
#include "tools/report/comparison/comparison.h"

namespace lockstep {
namespace {

using Cells = std::vector<std::string>;

std::string count_text(std::size_t count, const std::string& word) {
  return cat(count, " ", word, count == 1 ? "" : word == "batch" ? "es" : "s");
}

std::string side_title(const TrialGroup& group) {
  const std::string& source = group.trials[0].source;
  const std::string word = source == "facts" ? "report" : source;
  return group.trials.size() == 1
             ? group.name
             : cat(group.name, " (", count_text(group.trials.size(), word), ")");
}

std::string mean_text(const QuantityRow& row, const std::vector<double>& values, double mean) {
  const std::string& unit = row.what.unit;
  if (values.size() == 1 && row.what.aspect != Aspect::goal) return quantity_text(values[0], unit);
  return std::isfinite(mean) ? quantity_text(mean, unit) : "-";
}

std::string interval_text(const QuantityRow& row) {
  const Interval& interval = row.contrast.interval;
  if (!std::isfinite(interval.estimate)) return "-";
  const bool ratio = row.what.scale == Scale::ratio;
  const auto text = [&](double value) {
    return ratio ? fixed(value, value < 10 ? 3 : 1)
                 : cat(value > 0 ? "+" : "", quantity_text(value, row.what.unit));
  };
  std::string shown = cat(text(interval.estimate), ratio ? " ×" : "");
  if (std::isfinite(interval.low))
    shown += cat(" (", text(interval.low), " to ", text(interval.high), ")");
  return shown;
}

std::string says(const QuantityRow& row) {
  if (row.conclusion == Conclusion::not_comparable) return "not comparable";
  return row.text;
}

std::string table_of(const Comparison& comparison) {
  if (comparison.rows.empty()) return "";
  std::vector<Cells> rows = {
      {"", side_title(comparison.a), side_title(comparison.b), "B against A", "B is"}};
  for (const QuantityRow& row : comparison.rows) {
    const bool decides = row.what.name == comparison.by && row.per.empty();
    rows.push_back({cat(decides ? "> " : "  ", row.what.title),
                    mean_text(row, row.a, row.contrast.mean_a),
                    mean_text(row, row.b, row.contrast.mean_b), interval_text(row), says(row)});
  }
  for (Cells& row : rows)
    for (std::string& cell : row) cell = clean_cells(cell);
  return "\n" + columns(rows);
}

std::string flags_text(const Comparison& comparison, int width) {
  std::string text;
  for (const RedFlag& flag : comparison.flags)
    text += hang_cells("! ", clean_cells(flag.text), width);
  return text.empty() ? "" : text + "\n";
}

// The command to type if the user wants to compare in spite of these differences. A command is not
// broken into lines.
std::string spite_text(const Comparison& comparison, int width) {
  if (comparison.could_vary.empty()) return "";
  const std::string& command = comparison.options.command;
  return cat(wrap_cells(clean_cells(cat("to compare in spite of it (", comparison.if_varied, "):")),
                        width),
             "\n  ", clean_cells(command), command.empty() ? "" : " ", "--varied ",
             clean_cells(join(comparison.could_vary, ",")), "\n");
}

std::string verdict_text(const Comparison& comparison, int width) {
  if (comparison.reasons.empty()) return wrap_cells(clean_cells(comparison.verdict), width) + "\n";
  std::string text = "not comparable:\n";
  for (const std::string& reason : comparison.reasons)
    text += hang_cells("  - ", clean_cells(reason), width);
  return text + spite_text(comparison, width);
}

std::string counts_text(const Comparison& comparison, int width) {
  std::string text;
  for (const CountRow& row : comparison.counts)
    text += hang_cells(cat(row.name, ": "), row.text, width);
  return text.empty() ? "" : "\n" + text;
}

double median_of_sorted(const std::vector<double>& values) {
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The differences from job to job, and the assumption of their test.
std::string pairs_text(const Comparison& comparison, int width) {
  constexpr std::size_t most = 8;
  const std::vector<JobPairs>& pairs = comparison.jobs.pairs;
  if (pairs.empty()) return "";
  std::vector<std::string> texts;
  std::size_t differing = 0;
  for (const JobPairs& pair : pairs) {
    const SignedRank& ranks = pair.ranks;
    if (ranks.more + ranks.less == 0 || ++differing > most) continue;
    texts.push_back(cat(pair.name, " is higher in ", comparison.b.name, " in ", ranks.more, " of ",
                        ranks.more + ranks.less + ranks.same, " jobs, lower in ", ranks.less,
                        ", the same in ", ranks.same, " (p = ", general(ranks.p, 2), ")"));
  }
  if (differing == 0)
    return hang_cells("job by job: ", "all qualities are the same in all jobs of both", width);
  if (differing > most) texts.push_back(cat("and ", differing - most, " more: --json has all"));
  return hang_cells(
      "job by job: ",
      clean_cells(cat(join(texts, "; "),
                      ". Wilcoxon's signed-rank test, two-sided, of each quality by itself. It "
                      "takes jobs to be independent: those that share data, such as windows that "
                      "overlap in time, are not, and p is too small then. It says nothing of other "
                      "seeds or another machine")),
      width);
}

// The spread of the jobs on both sides around the batches' values.
std::string jobs_text(const Comparison& comparison, int width) {
  const JobsMatched& jobs = comparison.jobs;
  if (!jobs.any) return "";
  std::int64_t both = 0, slower = 0;
  std::vector<double> ratios;
  for (const JobRow& row : jobs.rows) {
    if (row.state_a != "done" || row.state_b != "done" || row.seconds_a <= 0 || row.seconds_b <= 0)
      continue;
    ++both;
    ratios.push_back(row.seconds_b / row.seconds_a);
    if (ratios.back() > 1) ++slower;
  }
  std::string text =
      cat(jobs.matched, " jobs are in both, by ", jobs.by, "; ", jobs.only_a, " only in ",
          comparison.a.name, ", ", jobs.only_b, " only in ", comparison.b.name);
  if (both > 0) {
    std::sort(ratios.begin(), ratios.end());
    text += cat("; of ", both, " that are done in both, ", slower, " took longer in ",
                comparison.b.name, ": B / A from ", fixed(ratios.front(), 2), " to ",
                fixed(ratios.back(), 2), ", median ", fixed(median_of_sorted(ratios), 2),
                " (jobs of one batch are no repeats)");
  }
  return "\n" + hang_cells("jobs: ", clean_cells(text), width) + pairs_text(comparison, width);
}

std::string blocked_text(const Difference& difference) {
  std::vector<std::string> notes;
  if (difference.varied) notes.push_back("varied");
  if (difference.kind == FactKind::work && difference.blocks.empty() && !difference.varied)
    notes.push_back("a step costs the same");
  if (difference.within) notes.push_back("not the same within a side");
  return notes.empty() ? "" : cat(" (", join(notes, ", "), ")");
}

std::string differences_text(const Comparison& comparison, int width) {
  constexpr std::size_t most = 24;
  std::string text;
  std::size_t shown = 0;
  for (const Difference& difference : comparison.differences) {
    if (shown++ == most) {
      text += cat("  … and ", comparison.differences.size() - most, " more: --json has all\n");
      break;
    }
    text += hang_cells(cat("  ", pad_cells(to_string(difference.kind), 8)),
                       clean_cells(difference.text + blocked_text(difference)), width);
  }
  return text.empty() ? "\nno known fact differs\n" : "\ndiffers (B against A):\n" + text;
}

std::string unknown_text(const Comparison& comparison, int width) {
  constexpr std::size_t most = 16;
  std::vector<std::string> names;
  for (const UnknownFact& fact : comparison.unknown) {
    if (names.size() == most) {
      names.push_back(cat("and ", comparison.unknown.size() - most, " more"));
      break;
    }
    names.push_back(cat(fact.key,
                        fact.in_a && fact.in_b ? ""
                        : fact.in_a            ? cat(" of ", comparison.a.name)
                                               : cat(" of ", comparison.b.name),
                        fact.assumed ? " (taken to be equal)" : ""));
  }
  if (names.empty()) return "";
  return hang_cells("not known to be equal: ", clean_cells(join(names, ", ")), width);
}

std::string equal_text(const Comparison& comparison, int width) {
  constexpr std::size_t most = 12;
  std::vector<std::string> first = {"recipe", "data",    "options", "global_batch", "samples",
                                    "steps",  "devices", "cpu",     "precision",    "seed"};
  std::vector<std::string> names;
  const auto is_equal = [&](const std::string& key) {
    return std::find(comparison.equal.begin(), comparison.equal.end(), key) !=
           comparison.equal.end();
  };
  std::copy_if(first.begin(), first.end(), std::back_inserter(names), is_equal);
  for (const std::string& key : comparison.equal)
    if (names.size() < most && std::find(names.begin(), names.end(), key) == names.end())
      names.push_back(key);
  if (names.empty()) return "";
  const std::size_t more = comparison.equal.size() - names.size();
  return hang_cells("equal: ", cat(join(names, ", "), more > 0 ? cat(" and ", more, " more") : ""),
                    width);
}

std::string method_text(const Comparison& comparison, int width) {
  std::vector<std::string> methods;
  bool bootstrap = false;
  for (const QuantityRow& row : comparison.rows) {
    const std::string& method = row.contrast.method;
    bootstrap = bootstrap || row.bootstrap.has_value();
    if (std::isfinite(row.contrast.interval.low) && !method.empty() &&
        std::find(methods.begin(), methods.end(), method) == methods.end())
      methods.push_back(method);
  }
  const CompareOptions& options = comparison.options;
  const std::string repeats = cat(
      comparison.a.trials.size(), " against ", comparison.b.trials.size(), " repeats, margin ",
      general(options.margin * 100, 3), " %",
      options.by_margin ? cat(" (of ", options.by, " ", general(*options.by_margin, 4), ")") : "");
  const std::string percent = general(comparison.options.confidence * 100, 3);
  std::string text =
      methods.empty()
          ? cat(repeats, comparison.options.paired ? "; no intervals: one pair has none"
                                                   : "; no intervals: a run is one repeat, its "
                                                     "steps are none")
          : cat(repeats, "; intervals hold the truth in ", percent,
                " % of cases, each by itself: ", join(methods, ", "),
                bootstrap ? "; --json has those of the bootstrap (BCa) too" : "");
  return "\n" + hang_cells("method: ", text, width);
}

std::string cautions_text(const Comparison& comparison, int width) {
  constexpr std::size_t most = 8;
  std::string text;
  std::size_t shown = 0;
  for (const TrialGroup* group : {&comparison.a, &comparison.b})
    for (const Trial& trial : group->trials)
      for (const std::string& caution : trial.cautions)
        if (shown++ < most)
          text += hang_cells(cat("  ", clean_cells(trial.name), ": "), clean_cells(caution), width);
  if (shown > most) text += cat("  … and ", shown - most, " more\n");
  return text.empty() ? "" : "\nwith caution:\n" + text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, int width) {
  return flags_text(comparison, width) + verdict_text(comparison, width) + table_of(comparison) +
         counts_text(comparison, width) + jobs_text(comparison, width) +
         differences_text(comparison, width) + unknown_text(comparison, width) +
         equal_text(comparison, width) + method_text(comparison, width) +
         cautions_text(comparison, width);
}

}  // namespace lockstep
