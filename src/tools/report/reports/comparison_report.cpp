#include "tools/report/reports/comparison_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <list>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "core/media/charts/chart.h"
#include "runtime/run/events/json_lines.h"
#include "tools/report/facts/facts.h"
#include "tools/report/facts/json_member.h"
#include "tools/report/pages/figures.h"
#include "tools/report/pages/shown.h"

namespace lockstep {
namespace {

constexpr std::size_t most_compared_rows = 300;

// The elements of a list. Nothing if the value is not a list.
const nlohmann::json& list_of(const nlohmann::json& object, const char* key) {
  static const nlohmann::json nothing = nlohmann::json::array();
  const nlohmann::json& list = member_or_null(object, key);
  return list.is_array() ? list : nothing;
}

std::string value_words(const nlohmann::json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return shown_number(value.get<double>());
  if (!value.is_array()) return to_line(value);
  std::vector<std::string> words;
  for (const nlohmann::json& one : value) words.push_back(value_words(one));
  return join(words, ", ");
}

std::string number_words(const nlohmann::json& object, const char* key) {
  const double value = number_or(object, key, NAN);
  return std::isnan(value) ? "" : shown_number(value);
}

// The mean of a side, with its unit.
std::string mean_words(const nlohmann::json& quantity, const char* key) {
  const double value = number_or(quantity, key, NAN);
  const std::string unit = text_or(quantity, "unit", "");
  if (std::isnan(value)) return "";
  if (unit == "bytes") return format_bytes(value);
  if (unit == "s") return shown_seconds(value);
  return unit.empty() ? shown_number(value) : cat(shown_number(value), " ", unit);
}

// lower: a smaller value is known to be better.
PageTone tone_of_conclusion(const std::string& conclusion, bool lower) {
  if (conclusion == "faster" || conclusion == "better" || (conclusion == "less" && lower))
    return PageTone::good;
  if (conclusion == "slower" || conclusion == "worse" || conclusion == "not comparable")
    return PageTone::bad;
  return conclusion == "inconclusive" ? PageTone::warning : PageTone::plain;
}

bool has_interval(const nlohmann::json& quantity) {
  return std::isfinite(number_or(quantity, "estimate", NAN)) &&
         std::isfinite(number_or(quantity, "low", NAN)) &&
         std::isfinite(number_or(quantity, "high", NAN));
}

std::string quantity_name(const nlohmann::json& quantity) {
  const std::string title = text_or(quantity, "title", ""), name = text_or(quantity, "name", "?");
  const std::string per = text_or(quantity, "per", "");
  if (!title.empty()) return title;  // the title already contains `per`
  return per.empty() ? name : cat(name, " (", per, ")");
}

// Draws each interval as "   name  |---o--|   ", over one axis.
std::string interval_lines(const std::vector<IntervalRow>& rows, const std::vector<double>& marks) {
  constexpr int columns = 50;
  double low = INFINITY, high = -INFINITY;
  int names = 0;
  for (const IntervalRow& row : rows) {
    low = std::min(low, row.interval.low);
    high = std::max(high, row.interval.high);
    names = std::max(names, std::min(cells_of(row.name), 26));
  }
  for (const double mark : marks) low = std::min(low, mark), high = std::max(high, mark);
  const double span = high > low && std::isfinite(high - low) ? high - low : 1;
  const auto place = [&](double value) {
    return static_cast<std::size_t>(
        std::clamp(std::lround((value - low) / span * (columns - 1)), 0L, long{columns - 1}));
  };
  std::string text;
  for (const IntervalRow& row : rows) {
    std::string line(columns, ' ');
    for (const double mark : marks) line[place(mark)] = ':';
    for (std::size_t i = place(row.interval.low); i <= place(row.interval.high); ++i) line[i] = '-';
    line[place(row.interval.low)] = line[place(row.interval.high)] = '|';
    line[place(row.interval.estimate)] = 'o';
    text += cat(fill_cells(row.name, names, "…"), "  ", line, "\n");
  }
  const std::string from = general(low, 4), to = general(high, 4);
  return text + cat(pad_cells("", names), "  ", from,
                    std::string(static_cast<std::size_t>(
                                    std::max(1, columns - cells_of(from) - cells_of(to))),
                                ' '),
                    to, "\n");
}

class ComparisonPageMaker {
 public:
  explicit ComparisonPageMaker(const nlohmann::json& comparison) : all_(comparison) {}

  Page page() {
    const std::string conclusion = text_or(all_, "conclusion", "");
    return {.title = cat(side("b"), " against ", side("a")),
            .state = conclusion,
            .tone = tone(),
            .subtitle = cat("A is ", side("a"), ", B is ", side("b"), "; B is judged against A."),
            .sections = {overview(), intervals(), quantities(), counts(), curves(), differences(),
                         unknown(), trials(), jobs(), methods()},
            .foot = cat("lockstep compare ", text_or(all_, "lockstep", "?"), ", lockstep report ",
                        version())};
  }

 private:
  std::string side(const char* key) const {
    return text_or(member_or_null(all_, key), "name", key);
  }

  PageTone tone() const {
    bool lower = false;
    for (const nlohmann::json& quantity : list_of(all_, "quantities"))
      if (text_or(quantity, "name", "") == text_or(all_, "by", "\n"))
        lower = lower || text_or(quantity, "better", "") == "lower";
    return tone_of_conclusion(text_or(all_, "conclusion", ""), lower);
  }

  std::string repeats_words(const char* key) const {
    const std::size_t repeats = list_of(member_or_null(all_, key), "trials").size();
    return cat(repeats, repeats == 1 ? " repeat" : " repeats");
  }

  PageSection overview() const {
    PageSection section{.title = "", .blocks = {}};
    std::vector<PageNote> notes;
    for (const nlohmann::json& flag : list_of(all_, "flags"))
      notes.push_back({PageTone::bad, text_or(flag, "text", text_or(flag, "name", ""))});
    if (const std::string verdict = text_or(all_, "verdict", ""); !verdict.empty())
      notes.push_back({tone(), verdict});
    for (const nlohmann::json& reason : list_of(all_, "reasons"))
      notes.push_back({PageTone::warning, value_words(reason)});
    if (integer_or(all_, "version", 1) > 1)
      notes.push_back({PageTone::warning,
                       "The comparison was written by a newer Lockstep: what only that knows is "
                       "missing here."});
    if (!notes.empty()) section.blocks.emplace_back(std::move(notes));
    std::vector<PageTile> tiles;
    for (const nlohmann::json& quantity : list_of(all_, "quantities"))
      if (text_or(quantity, "name", "") == text_or(all_, "by", "\n") ||
          text_or(quantity, "title", "") == text_or(all_, "by", "\n"))
        tiles.push_back({quantity_name(quantity), estimate_words(quantity),
                         text_or(quantity, "conclusion", "")});
    for (const char* key : {"a", "b"})
      tiles.push_back({key == std::string("a") ? "A" : "B", side(key), repeats_words(key)});
    // in the unit of the deciding quantity
    const double by_margin = number_or(all_, "by_margin", NAN);
    tiles.push_back(
        {"margin",
         std::isfinite(by_margin) ? general(by_margin, 4)
                                  : cat(general(number_or(all_, "margin", NAN) * 100, 3), " %"),
         cat("intervals of ", general(number_or(all_, "confidence", NAN) * 100, 3), " %")});
    section.blocks.emplace_back(std::move(tiles));
    return section;
  }

  static std::string repeats_needed_words(const nlohmann::json& quantity) {
    const std::int64_t repeats = integer_or(quantity, "repeats_needed", 0);
    return repeats > 0 ? fact_text(repeats) : "";
  }

  static std::string estimate_words(const nlohmann::json& quantity) {
    const double estimate = number_or(quantity, "estimate", NAN);
    if (std::isnan(estimate)) return "";
    const bool ratio = text_or(quantity, "scale", "ratio") == "ratio";
    const std::string unit = ratio ? " ×" : "";
    std::string text = cat(shown_number(estimate), unit);
    if (has_interval(quantity))
      text += cat(" (", number_words(quantity, "low"), " to ", number_words(quantity, "high"), ")");
    return text;
  }

  PageSection intervals() const {
    PageSection section{.title = "Intervals", .blocks = {}};
    std::vector<IntervalRow> rows;
    for (const nlohmann::json& quantity : list_of(all_, "quantities"))
      if (text_or(quantity, "scale", "") == "ratio" && has_interval(quantity))
        rows.push_back({quantity_name(quantity),
                        {number_or(quantity, "low", 0), number_or(quantity, "estimate", 0),
                         number_or(quantity, "high", 0)}});
    if (rows.empty()) return section;
    const double margin = number_or(all_, "margin", 0);
    std::vector<double> marks{1};
    if (margin > 0) marks.insert(marks.end(), {1 / (1 + margin), 1 + margin});
    PageFigure figure{.title = "ratio of B to A",
                      .svg = interval_chart({.title = "ratio of B to A",
                                             .x = {.label = "B / A; dashed: equal, and the margin"},
                                             .width = wide_px},
                                            rows, marks),
                      .text = interval_lines(rows, marks),
                      .wide = true};
    section.blocks.emplace_back(std::vector<PageFigure>{std::move(figure)});
    return section;
  }

  PageSection quantities() const {
    PageSection section{.title = "Quantities", .blocks = {}};
    PageTable table{.columns = {"", "A", "B", "B against A", "conclusion", "repeats needed"},
                    .rows = {},
                    .first_numbers = 6};
    for (const nlohmann::json& quantity : list_of(all_, "quantities"))
      if (table.rows.size() < most_compared_rows)
        table.rows.push_back({quantity_name(quantity), mean_words(quantity, "mean_a"),
                              mean_words(quantity, "mean_b"), estimate_words(quantity),
                              text_or(quantity, "text", text_or(quantity, "conclusion", "")),
                              repeats_needed_words(quantity)});
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    return section;
  }

  PageSection counts() const {
    PageSection section{.title = "Failed and skipped", .blocks = {}};
    const auto rate = [](const nlohmann::json& one) {
      if (!one.is_object()) return std::string();
      const double low = number_or(one, "low", NAN), high = number_or(one, "high", NAN);
      return cat(integer_or(one, "hits", 0), " of ", integer_or(one, "all", 0),
                 std::isfinite(low) && std::isfinite(high)
                     ? cat(" (", general(low * 100, 3), " to ", general(high * 100, 3), " %)")
                     : "");
    };
    PageTable table{.columns = {"", "A", "B", "p", ""}, .rows = {}, .first_numbers = 5};
    for (const nlohmann::json& count : list_of(all_, "counts"))
      table.rows.push_back({text_or(count, "name", ""), rate(member_or_null(count, "a")),
                            rate(member_or_null(count, "b")), number_words(count, "p"),
                            text_or(count, "text", text_or(count, "conclusion", ""))});
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    return section;
  }

  // The evaluations of each trial, over its steps and over its time.
  PageSection curves() {
    PageSection section{.title = "Curves", .blocks = {}};
    std::vector<DrawnCurve> drawn;
    std::string metric;
    for (const char* key : {"a", "b"})
      for (const nlohmann::json& trial : list_of(member_or_null(all_, key), "trials")) {
        if (drawn.size() >= 20) break;
        Curve curve;
        for (const nlohmann::json& point : list_of(trial, "curve"))
          if (point.is_array() && point.size() == 3 && point[0].is_number() && point[1].is_number())
            curve.add({point[0].get<double>(), point[1].get<double>()},
                      point[2].is_number() ? point[2].get<double>() : NAN);
        if (curve.empty()) continue;
        curves_.push_back(std::move(curve));
        metric = text_or(trial, "metric", metric);
        drawn.push_back(
            {.name = cat(key == std::string("a") ? "A: " : "B: ", text_or(trial, "name", "?")),
             .curve = &curves_.back(),
             .look = key == std::string("a") ? 0 : 3});
      }
    std::vector<PageFigure> figures;
    for (const CurveAxis axis : {CurveAxis::step, CurveAxis::time})
      add_figure(
          figures,
          {.title = cat(metric, axis == CurveAxis::step ? " by step" : " by time of training"),
           .axis = axis,
           .wide = true},
          drawn);
    if (!figures.empty()) section.blocks.emplace_back(std::move(figures));
    return section;
  }

  PageSection differences() const {
    PageSection section{.title = "What differs", .blocks = {}};
    PageTable table{.columns = {"fact", "kind", "A", "B", ""}, .rows = {}, .first_numbers = 5};
    for (const nlohmann::json& one : list_of(all_, "differences")) {
      if (table.rows.size() == most_compared_rows) break;
      std::vector<std::string> words;
      if (is_true(one, "varied")) words.emplace_back("the question itself");
      if (const std::string blocked = value_words(member_or_null(one, "blocks")); !blocked.empty())
        words.push_back(cat("not comparable: ", blocked));
      if (is_true(one, "blocks_totals")) words.emplace_back("totals not comparable");
      if (const std::string text = text_or(one, "text", ""); !text.empty()) words.push_back(text);
      table.rows.push_back({text_or(one, "key", ""), text_or(one, "kind", ""),
                            value_words(member_or_null(one, "a")),
                            value_words(member_or_null(one, "b")), join(words, "; ")});
    }
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    if (const std::string equal = value_words(member_or_null(all_, "equal")); !equal.empty())
      section.blocks.emplace_back(PageText{cat("Known and equal: ", equal, ".")});
    return section;
  }

  PageSection unknown() const {
    PageSection section{.title = "What is not known", .blocks = {}};
    PageTable table{.columns = {"fact", "kind", "A", "B", ""}, .rows = {}, .first_numbers = 5};
    for (const nlohmann::json& one : list_of(all_, "unknown")) {
      // The value true means that the fact is unknown on that side.
      const auto known = [&](const char* key) {
        const nlohmann::json& value = member_or_null(one, key);
        return value.is_boolean() ? std::string(value.get<bool>() ? "unknown" : "known")
                                  : value_words(value);
      };
      const std::string blocked = value_words(member_or_null(one, "blocks"));
      table.rows.push_back({text_or(one, "key", ""), text_or(one, "kind", ""), known("in_a"),
                            known("in_b"),
                            is_true(one, "assumed") ? "taken to be equal"
                            : blocked.empty()       ? ""
                                                    : cat("not comparable: ", blocked)});
    }
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    return section;
  }

  PageSection trials() const {
    PageSection section{.title = "Trials", .blocks = {}};
    PageTable table{
        .columns = {"side", "name", "is a", "state", "cautions"}, .rows = {}, .first_numbers = 5};
    for (const char* key : {"a", "b"})
      for (const nlohmann::json& trial : list_of(member_or_null(all_, key), "trials"))
        if (table.rows.size() < most_compared_rows)
          table.rows.push_back({key == std::string("a") ? "A" : "B", text_or(trial, "name", ""),
                                text_or(trial, "source", ""), text_or(trial, "state", ""),
                                value_words(member_or_null(trial, "cautions"))});
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    return section;
  }

  PageSection jobs() const {
    PageSection section{.title = "Jobs", .blocks = {}};
    const nlohmann::json& jobs = member_or_null(all_, "jobs");
    if (!jobs.is_object()) return section;
    PageTable table{.columns = {"job", "A", "B", "time of A", "time of B", "results, A and B"},
                    .rows = {},
                    .first_numbers = 6};
    const nlohmann::json& rows = list_of(jobs, "rows");
    for (const nlohmann::json& row : rows) {
      if (table.rows.size() == most_compared_rows) break;
      const auto time = [&](const char* key) {
        const double seconds = number_or(row, key, NAN);
        return seconds > 0 ? shown_seconds(seconds) : std::string();  // 0 = it did not run
      };
      std::vector<std::string> results;
      if (const nlohmann::json& pairs = member_or_null(row, "results"); pairs.is_object())
        for (const auto& [name, pair] : pairs.items())
          if (results.size() < 6) results.push_back(cat(name, " ", value_words(pair)));
      table.rows.push_back({text_or(row, "name", ""), text_or(row, "state_a", ""),
                            text_or(row, "state_b", ""), time("seconds_a"), time("seconds_b"),
                            join(results, "; ")});
    }
    table.left_out = cat(
        integer_or(jobs, "matched", 0), " are in both, ",
        value_words(member_or_null(jobs, "only_a")), " in A alone, ",
        value_words(member_or_null(jobs, "only_b")), " in B alone",
        rows.size() > table.rows.size() ? cat("; the first ", table.rows.size(), " are shown") : "",
        ".");
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    add_pairs(jobs, section);
    return section;
  }

  static void add_pairs(const nlohmann::json& jobs, PageSection& section) {
    PageTable table{.columns = {"quality, job by job", "higher in B", "lower", "the same", "p"},
                    .rows = {}};
    for (const nlohmann::json& pair : list_of(jobs, "pairs"))
      if (table.rows.size() < most_compared_rows)
        table.rows.push_back({text_or(pair, "name", ""), cat(integer_or(pair, "higher", 0)),
                              cat(integer_or(pair, "lower", 0)), cat(integer_or(pair, "same", 0)),
                              shown_number(number_or(pair, "p", NAN))});
    if (table.rows.empty()) return;
    table.left_out =
        "Wilcoxon's signed-rank test, of each quality by itself. It takes jobs to be independent: "
        "p is too small where they share data. It says nothing of other seeds.";
    section.blocks.emplace_back(std::move(table));
  }

  PageSection methods() const {
    PageSection section{.title = "How the intervals were made", .blocks = {}, .folded = true};
    PageTable table{.columns = {"", "method"}, .rows = {}, .first_numbers = 2};
    for (const nlohmann::json& quantity : list_of(all_, "quantities")) {
      const std::string method = text_or(quantity, "method", ""),
                        why = text_or(quantity, "unknown", "");
      if (!method.empty() || !why.empty())
        table.rows.push_back({quantity_name(quantity), why.empty() ? method : why});
    }
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    return section;
  }

  const nlohmann::json& all_;
  std::list<Curve> curves_;
};

}  // namespace

Page comparison_page(const nlohmann::json& comparison) {
  return ComparisonPageMaker(comparison).page();
}

}  // namespace lockstep
