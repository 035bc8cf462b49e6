// Draws tuples in the plane of valence and arousal.
#include "recipes/dimabsa/sentences/pages/va_chart.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/text/text.h"
#include "core/media/charts/chart_sheet.h"
#include "recipes/dimabsa/sentences/files/sentence_errors.h"
#include "recipes/dimabsa/sentences/scores/va.h"

namespace lockstep::dimabsa {
namespace {

struct Drawn {
  std::optional<ValenceArousal> gold, predicted;
  std::string tip;
};

void add_sentence(Task task, const Sentence& gold, const Sentence& predicted,
                  std::vector<Drawn>& drawn) {
  const SentenceScore score = score_sentence(task, gold.tuples, predicted.tuples);
  std::vector<bool> known(gold.tuples.size()), found(predicted.tuples.size());
  for (const Match& match : score.matches) {
    const Tuple& tuple = predicted.tuples[match.predicted];
    known[match.gold] = found[match.predicted] = true;
    drawn.push_back({gold.tuples[match.gold].va, tuple.va,
                     cat(gold.id, ": ", describe(task, gold.tuples[match.gold]))});
  }
  for (std::size_t i = 0; i < known.size(); ++i)
    if (!known[i])
      drawn.push_back({gold.tuples[i].va, std::nullopt,
                       cat(gold.id, ", missed: ", describe(task, gold.tuples[i]))});
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!found[i] && predicted.tuples[i].va)
      drawn.push_back({std::nullopt, predicted.tuples[i].va,
                       cat(predicted.id, ", spurious: ", describe(task, predicted.tuples[i]))});
}

std::vector<Drawn> thinned_to(std::size_t most, std::vector<Drawn> all) {
  if (all.size() <= most || most == 0) return all;
  std::vector<Drawn> kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(std::move(all[i * all.size() / most]));
  return kept;
}

void draw_tuples(Svg& svg, const ChartScale& x, const ChartScale& y,
                 const std::vector<Drawn>& drawn, const std::vector<LegendEntry>& legend) {
  constexpr double radius = 3;
  const auto place = [&](const ValenceArousal& va) {
    const ValenceArousal within = clamped(va);
    return SvgPoint{x.place(within.valence), y.place(within.arousal)};
  };
  for (const Drawn& one : drawn)
    if (one.gold && one.predicted)
      svg.line(place(*one.gold), place(*one.predicted), "#999999", 0.8);
  for (const Drawn& one : drawn) {
    const bool both = one.gold && one.predicted;
    if (one.gold) svg.circle(place(*one.gold), radius, hex(legend[both ? 0 : 2].colour), one.tip);
    if (one.predicted)
      svg.circle(place(*one.predicted), radius, hex(legend[both ? 1 : 3].colour), one.tip);
  }
}

}  // namespace

std::string va_chart(Task task, const Aligned& aligned, std::size_t most) {
  std::vector<Drawn> all;
  for (std::size_t i = 0; i < aligned.gold.size(); ++i)
    add_sentence(task, aligned.gold[i], aligned.predicted[i], all);
  const std::size_t count = all.size();
  const std::vector<Drawn> drawn = thinned_to(most, std::move(all));
  const std::vector<LegendEntry> legend{look_of(0, "gold"), look_of(1, "prediction"),
                                        look_of(2, "missed"), look_of(3, "spurious")};
  ChartFrame frame{.title = drawn.size() < count ? cat("Valence and arousal, ", drawn.size(),
                                                       " of ", count, " tuples")
                                                 : std::string("Valence and arousal"),
                   .x = {.label = "valence", .low = least_va, .high = largest_va},
                   .y = {.label = "arousal", .low = least_va, .high = largest_va},
                   .width = 820,  // space for a square plot and the legend
                   .height = 640};
  ChartSheet sheet(frame, legend);
  DataRange range(/*log=*/false);
  range.add({least_va, largest_va});
  const ChartScale x = sheet.x_scale(range), y = sheet.y_scale(range);
  sheet.draw_x(x);
  sheet.draw_y(y);
  sheet.begin_plot();
  draw_tuples(sheet.svg(), x, y, drawn, legend);
  sheet.end_plot(!drawn.empty());
  return sheet.text();
}

}  // namespace lockstep::dimabsa
