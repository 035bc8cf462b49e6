// Makes the report of a run as a page.
#include <algorithm>
#include <cmath>

#include "core/base/text/text.h"
#include "core/base/version.h"
#include "runtime/run/curves/loss_curve.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/events/samples.h"
#include "runtime/run/progress/progress.h"
#include "runtime/run/progress/progress_text.h"
#include "tools/report/facts/json_member.h"
#include "tools/report/pages/shown.h"
#include "tools/report/reports/run_report.h"

namespace lockstep {
namespace {

constexpr std::size_t most_rows = 60, most_metric_figures = 24, most_metric_columns = 8;

PageTone tone_of(RunState state) {
  switch (state) {
    case RunState::finished:
    case RunState::running:
      return PageTone::good;
    case RunState::stopped:
    case RunState::interrupted:
      return PageTone::warning;
    case RunState::failed:
      return PageTone::bad;
  }
  return PageTone::plain;
}

std::string with_unit(const std::string& value, const std::string& unit) {
  return unit.empty() ? value : cat(value, " ", unit);
}

std::string percent_text(double share) { return cat(general(share * 100, 3), " %"); }

// Adds a row if the value is known.
void add_row(PageTable& table, const std::string& name, const std::string& value) {
  if (!value.empty()) table.rows.push_back({name, value});
}

std::string text_of_value(const nlohmann::json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : to_line(value);
}

void add_block(PageSection& section, PageTable table) {
  if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
}
void add_block(PageSection& section, std::vector<PageFigure> figures) {
  if (figures.empty()) return;
  if (figures.size() % 2 == 1 && !figures.back().wide && figures.size() == 1)
    figures.back().wide = false;
  section.blocks.emplace_back(std::move(figures));
}

class RunPageMaker {
 public:
  RunPageMaker(const RunReport& report, CurveAxis axis) : report_(report), axis_(axis) {}

  Page page() const {
    const RunSummary& summary = report_.summary;
    Page page{.title = summary.name,
              .state = to_string(summary.state),
              .tone = tone_of(summary.state),
              .subtitle = subtitle(),
              .sections = {},
              .foot = cat("lockstep report ", version())};
    page.sections = {overview(),    curves(),      speed(),      time(),        gpus(),
                     evaluations(), pictures(),    happenings(), checkpoints(), used(),
                     changed(),     all_options(), files()};
    return page;
  }

 private:
  const Curve* step(const char* name) const { return report_.series.step_curve(name); }
  CurveFrame frame(const std::string& title, const std::string& unit = "") const {
    return {.title = title, .unit = unit, .axis = axis_};
  }
  DrawnCurve drawn(const std::string& name, const Curve* curve) const {
    return {.name = name, .curve = curve, .samples_per_step = report_.global_batch};
  }

  std::string subtitle() const {
    const RunSummary& summary = report_.summary;
    std::vector<std::string> parts;
    const auto add = [&](const std::string& part) {
      if (!part.empty()) parts.push_back(part);
    };
    add(summary.recipe == "?" ? "" : summary.recipe);
    add(summary.devices);
    add(text_or(report_.record, "host", ""));
    if (summary.started > 0) add(cat("started ", shown_time(summary.started)));
    const std::string lockstep = text_or(report_.record, "lockstep", "");
    if (!lockstep.empty()) add("Lockstep " + lockstep);
    const nlohmann::json& config = member_or_null(report_.record, "config");
    add(text_of_value(member_or_null(config, "run.note")));
    return join(parts, " · ");
  }

  PageSection overview() const {
    PageSection section{.title = "", .blocks = {}};
    if (!report_.problems.empty()) section.blocks.emplace_back(report_.problems);
    std::vector<PageTile> tiles = result_tiles();
    for (PageTile& tile : speed_tiles()) tiles.push_back(std::move(tile));
    if (!tiles.empty()) section.blocks.emplace_back(std::move(tiles));
    for (const LoggedOutput& output : report_.output) {
      section.blocks.emplace_back(PageText{cat("The last lines of ", output.file, ":")});
      section.blocks.emplace_back(PageLines{output.lines});
    }
    if (report_.series.lines == 0)
      section.blocks.emplace_back(
          PageText{"The run has no events: there are no curves and no times to show."});
    return section;
  }

  std::vector<PageTile> result_tiles() const {
    const RunSummary& summary = report_.summary;
    std::vector<PageTile> tiles;
    const std::string metric = report_.metric();
    if (summary.best.is_object() && summary.best.contains(metric))
      tiles.push_back(
          {cat("best ", metric),
           with_unit(shown_number(number_or(summary.best, metric.c_str(), NAN)), unit_of(metric)),
           cat("at step ", summary.best_step)});
    if (const Curve* const curve = report_.series.metric_curve(metric))
      tiles.push_back({cat("last ", metric), shown_number(curve->totals().last),
                       cat(report_.series.evaluations,
                           report_.series.evaluations == 1 ? " evaluation" : " evaluations")});
    if (const Curve* const loss = step("loss"))
      tiles.push_back({"training loss", shown_number(loss->totals().last),
                       cat("smoothed ", shown_number(loss->smooth_last()))});
    if (summary.step > 0 || summary.total_steps > 0) {
      const double epochs = last_of("epoch");
      tiles.push_back({"steps",
                       summary.total_steps > 0 ? cat(summary.step, " of ", summary.total_steps)
                                               : cat(summary.step),
                       std::isfinite(epochs) ? cat(general(epochs, 4), " epochs") : ""});
    }
    return tiles;
  }

  std::vector<PageTile> speed_tiles() const {
    const RunSummary& summary = report_.summary;
    std::vector<PageTile> tiles;
    if (report_.series.time.total > 0)
      tiles.push_back(
          {"time", shown_seconds(report_.series.time.total),
           report_.series.starts > 1 ? cat("in ", report_.series.starts, " starts") : ""});
    if (summary.units_per_s) {
      const std::string mfu = summary.mfu ? cat("MFU ", percent_text(*summary.mfu)) : "";
      tiles.push_back({"throughput",
                       cat(shown_count(*summary.units_per_s), " ", summary.unit, "/s"),
                       cat(mfu, of_this_start(summary.rates_from, mfu.empty() ? "" : " "))});
    }
    if (const Curve* const memory = step("memory peak"))
      tiles.push_back({"peak memory", format_bytes(memory->totals().high), "of a rank"});
    double energy_j = 0;
    for (const GpuCurves& gpu : report_.gpus.gpus) energy_j += gpu.energy_j.value_or(0);
    if (energy_j > 0)
      tiles.push_back(
          {"energy", cat(general(energy_j / 3.6e6, 4), " kWh"), "of the GPUs, as sampled"});
    return tiles;
  }

  double last_of(const char* name) const {
    const Curve* const curve = step(name);
    return curve ? curve->totals().last : NAN;
  }
  std::string unit_of(const std::string& metric) const {
    const auto found = report_.series.units.find(metric);
    return found == report_.series.units.end() ? "" : found->second;
  }

  // -- curves
  PageSection curves() const {
    PageSection section{.title = "Curves", .blocks = {}};
    std::vector<PageFigure> wide, figures;
    DrawnCurve training = drawn("training", step("loss"));
    training.smooth = report_.series.weight > 0;
    training.look = 0;
    DrawnCurve validation = drawn("validation", report_.series.metric_curve("loss"));
    validation.look = 1;
    CurveFrame losses = frame("loss");
    losses.may_be_log = losses.wide = true;
    losses.caption = smoothing_text();
    add_figure(wide, losses, {training, validation});
    add_block(section, std::move(wide));
    std::size_t drawn_metrics = 0;
    for (const NamedCurve& metric : report_.series.metrics)
      if (metric.name != "loss" && drawn_metrics++ < most_metric_figures)
        add_figure(figures, metric_frame(metric.name, unit_of(metric.name), metric.curve, axis_),
                   {drawn("", &metric.curve)});
    add_parts(figures, "terms ", "terms of the loss");
    add_parts(figures, "logged ", "");
    add_figure(figures, frame("learning rate"), {drawn("", step("lr"))});
    CurveFrame norm = frame("norm of the gradient");
    norm.may_be_log = true;
    add_figure(figures, norm, {drawn("", step("grad_norm"))});
    add_figure(figures, frame("loss scale"), {drawn("", step("loss_scale"))});
    add_block(section, std::move(figures));
    if (drawn_metrics > most_metric_figures)
      section.blocks.emplace_back(PageText{cat(drawn_metrics - most_metric_figures,
                                               " more metrics are in the table of evaluations.")});
    return section;
  }

  std::string smoothing_text() const {
    const Curve* const loss = step("loss");
    if (loss == nullptr || report_.series.weight <= 0) return "";
    return cat("Smoothed by an exponential mean of weight ", general(report_.series.weight, 4),
               loss->is_thinned()
                   ? "; the pale band reaches from the lowest to the highest loss of "
                     "the steps that fall into one column"
                   : "",
               ".");
  }

  // Adds curves whose names begin with the prefix. "logged NAME" has a figure per name, and "terms
  // N" has one figure for all.
  void add_parts(std::vector<PageFigure>& figures, const std::string& prefix,
                 const std::string& title) const {
    std::vector<DrawnCurve> together;
    for (const NamedCurve& one : report_.series.steps) {
      if (!one.name.starts_with(prefix)) continue;
      const std::string name = one.name.substr(prefix.size());
      if (title.empty())
        add_figure(figures, frame(cat(name, " (training)")), {drawn("", &one.curve)});
      else
        together.push_back(drawn(name, &one.curve));
    }
    if (together.empty()) return;
    CurveFrame all = frame(title);
    all.may_be_log = true;
    add_figure(figures, all, together);
  }

  // -- speed and time
  PageSection speed() const {
    PageSection section{.title = "Speed", .blocks = {}};
    std::vector<PageFigure> figures;
    CurveFrame rate = frame("throughput", cat(report_.summary.unit, "/s"));
    rate.low = 0;
    add_figure(figures, rate, {drawn("", step("units_per_s"))});
    CurveFrame step_ms = frame("time of a step", "ms");
    step_ms.scale = 1000;
    step_ms.may_be_log = true;
    step_ms.low = 0;
    add_figure(figures, step_ms, {drawn("", step("step_s"))});
    CurveFrame mfu = frame("model FLOPs utilisation", "% of the devices' peak");
    mfu.scale = 100;
    mfu.low = 0;
    add_figure(figures, mfu, {drawn("", step("mfu"))});
    CurveFrame shares = frame("what steps waited for", "% of their time");
    shares.scale = 100;
    shares.low = 0;
    add_figure(figures, shares,
               {drawn("data", step("data_share")), drawn("other ranks", step("wait_share")),
                drawn("saving", step("save_share"))});
    CurveFrame memory = frame("peak memory of a rank", "GiB");
    memory.scale = 1 / 1073741824.0;
    memory.low = 0;
    add_figure(figures, memory, {drawn("", step("memory peak"))});
    add_block(section, std::move(figures));
    return section;
  }

  PageSection time() const {
    PageSection section{.title = "Where the time went", .blocks = {}};
    const TimeShares& time = report_.series.time;
    if (!(time.total > 0)) return section;
    PageTable table{.columns = {"", "time", "share"}, .rows = {}};
    const auto add = [&](const char* name, double seconds) {
      if (seconds > 0)
        table.rows.push_back({name, shown_seconds(seconds), percent_text(seconds / time.total)});
    };
    add("start-up", time.start_up);
    add("steps: computing", time.compute);
    add("steps: waiting for data", time.data);
    add("steps: waiting for other ranks", time.wait);
    add("steps: held up by saving", time.save);
    add("evaluations", time.evaluation);
    add("steps and evaluations that a resume took back", time.taken_back);
    add("other, such as ending and what came after the last logged step", time.other);
    table.rows.push_back({"all", shown_seconds(time.total), "100 %"});
    section.blocks.emplace_back(std::move(table));
    if (const std::string start = format_start_up(report_.series.last_start_up); !start.empty())
      section.blocks.emplace_back(PageText{cat("The newest start-up took ", start, ".")});
    return section;
  }

  // -- GPUs
  PageSection gpus() const {
    PageSection section{.title = "GPUs", .blocks = {}};
    const std::vector<GpuCurves>& gpus = report_.gpus.gpus;
    if (gpus.empty()) return section;
    PageTable table{.columns = {"GPU", "samples", "busy", "SMs active", "memory at most", "power",
                                "energy", "at most", "clock held down"},
                    .rows = {}};
    for (const GpuCurves& gpu : gpus) table.rows.push_back(gpu_row(gpu));
    table.left_out =
        "Busy, SMs and power are means of the samples in gpu.csv; an empty cell was not "
        "measured.";
    section.blocks.emplace_back(std::move(table));
    if (auto notes = throttling_notes(); !notes.empty())
      section.blocks.emplace_back(std::move(notes));
    std::vector<PageFigure> figures;
    const auto add = [&](const std::string& title, const std::string& unit, Curve GpuCurves::*curve,
                         double scale, std::optional<double> low, std::optional<double> high) {
      std::vector<DrawnCurve> curves;
      for (const GpuCurves& gpu : gpus)
        curves.push_back({.name = cat("GPU ", gpu.index), .curve = &(gpu.*curve)});
      if (curves.size() == 1) curves[0].name = "";
      add_figure(figures,
                 {.title = title,
                  .unit = unit,
                  .axis = CurveAxis::time,
                  .low = low,
                  .high = high,
                  .scale = scale},
                 std::move(curves));
    };
    add("busy", "%", &GpuCurves::busy, 1, 0, 100);
    add("SMs active", "%", &GpuCurves::sm, 1, 0, 100);
    add("memory in use", "GiB", &GpuCurves::memory_bytes, 1 / 1073741824.0, 0, std::nullopt);
    add("power", "W", &GpuCurves::power, 1, 0, std::nullopt);
    add("temperature", "°C", &GpuCurves::temperature, 1, std::nullopt, std::nullopt);
    add("clock of the SMs", "MHz", &GpuCurves::sm_clock, 1, std::nullopt, std::nullopt);
    add_block(section, std::move(figures));
    return section;
  }

  static std::vector<std::string> gpu_row(const GpuCurves& gpu) {
    const auto mean = [](const Curve& curve, const char* unit, int digits) {
      return curve.totals().values == 0 ? std::string()
                                        : cat(fixed(curve.totals().mean(), digits), " ", unit);
    };
    std::string memory;
    if (gpu.memory_bytes.totals().values > 0) {
      memory = format_bytes(gpu.memory_bytes.totals().high);
      if (gpu.memory_total_bytes > 0) memory += " of " + format_bytes(gpu.memory_total_bytes);
    }
    double throttled = 0;
    for (const auto& [reason, seconds] : gpu.throttled_s) throttled = std::max(throttled, seconds);
    return {cat("GPU ", gpu.index),
            cat(gpu.samples),
            mean(gpu.busy, "%", 0),
            mean(gpu.sm, "%", 1),
            memory,
            mean(gpu.power, "W", 0),
            gpu.energy_j ? cat(general(*gpu.energy_j / 3.6e6, 3), " kWh") : "",
            gpu.temperature.totals().values == 0
                ? ""
                : cat(fixed(gpu.temperature.totals().high, 0), " °C"),
            gpu.throttling_known_s > 0 ? percent_text(throttled / gpu.throttling_known_s) : ""};
  }

  std::vector<PageNote> throttling_notes() const {
    std::vector<PageNote> notes;
    for (const GpuCurves& gpu : report_.gpus.gpus) {
      for (const auto& [reason, seconds] : gpu.throttled_s)
        notes.push_back({PageTone::plain, cat("GPU ", gpu.index, ": clocks were held down by ",
                                              reason, " for ", shown_seconds(seconds), " of ",
                                              shown_seconds(gpu.throttling_known_s))});
      if (gpu.most_other_processes > 0)
        notes.push_back(
            {PageTone::warning, cat("GPU ", gpu.index, ": up to ", gpu.most_other_processes,
                                    " processes of others ran there too")});
    }
    return notes;
  }

  // -- evaluations and pictures
  PageSection evaluations() const {
    PageSection section{.title = "Evaluations", .blocks = {}};
    const std::vector<nlohmann::json>& evals = report_.series.evals;
    if (evals.empty()) return section;
    PageTable table{.columns = {"step"}, .rows = {}, .first_numbers = 0};
    std::vector<std::string> names;
    for (const NamedCurve& metric : report_.series.metrics)
      if (names.size() < most_metric_columns) names.push_back(metric.name);
    for (const std::string& name : names)
      table.columns.push_back(unit_of(name).empty() ? name : cat(name, ", ", unit_of(name)));
    table.columns.insert(table.columns.end(), {"took", ""});
    const std::size_t first = evals.size() - std::min(evals.size(), most_rows);
    for (std::size_t i = first; i < evals.size(); ++i) {
      std::vector<std::string> cells{cat(integer_or(evals[i], "step", 0))};
      for (const std::string& name : names) {
        const nlohmann::json& value =
            member_or_null(member_or_null(evals[i], "metrics"), name.c_str());
        cells.push_back(value.is_number() ? shown_number(value.get<double>())
                        : value.is_null() && member_or_null(evals[i], "metrics").contains(name)
                            ? "not finite"
                            : text_of_value(value));
      }
      cells.push_back(shown_seconds(number_or(evals[i], "seconds", NAN)));
      const bool is_best = !report_.summary.best.is_null() && is_true(evals[i], "best") &&
                           integer_or(evals[i], "step", 0) == report_.summary.best_step;
      cells.emplace_back(is_best ? "best" : "");
      table.rows.push_back(std::move(cells));
    }
    std::vector<std::string> missing;
    if (const auto all = static_cast<std::size_t>(report_.series.evaluations);
        all > table.rows.size())
      missing.push_back(cat("the last ", table.rows.size(), " of ", all, " evaluations"));
    if (report_.series.metrics.size() > names.size())
      missing.push_back(cat(names.size(), " of ", report_.series.metrics.size(), " metrics"));
    if (!missing.empty())
      table.left_out = cat("Shown: ", join(missing, ", "), "; the rest is in the report as JSON.");
    section.blocks.emplace_back(std::move(table));
    return section;
  }

  PageSection pictures() const {
    PageSection section{.title = "Pictures", .blocks = {}};
    if (report_.pictures.empty()) return section;
    section.blocks.emplace_back(
        PageText{cat("Of ", report_.pictures_of, "/",
                     report_.pictures_listed > 0
                         ? cat("; ", report_.pictures_listed, " are told by their names alone")
                         : "",
                     ".")});
    section.blocks.emplace_back(report_.pictures);
    return section;
  }

  // -- events and checkpoints
  PageSection happenings() const {
    PageSection section{.title = "What happened", .blocks = {}};
    std::vector<PageNote> notes;
    const std::vector<nlohmann::json>& told = report_.series.told;
    for (const nlohmann::json& event : told)
      for (const EventLine& line : describe_event(event)) {
        const double time = number_or(event, "time", 0);
        notes.push_back({line.tone == Tone::warning ? PageTone::warning : PageTone::plain,
                         cat(time > 0 ? shown_time(time) + "  " : "", line.text)});
      }
    const auto count = static_cast<std::size_t>(report_.series.told_count);
    if (!notes.empty()) section.blocks.emplace_back(std::move(notes));
    if (count > told.size())
      section.blocks.emplace_back(PageText{
          cat(count - told.size(), " events between the first and the last ones are left out.")});
    return section;
  }

  PageSection checkpoints() const {
    PageSection section{.title = "Checkpoints", .blocks = {}};
    PageTable table{
        .columns = {"step", "size", "written", "state"}, .rows = {}, .first_numbers = 0};
    const std::vector<CheckpointInfo>& all = report_.checkpoints;
    for (std::size_t i = all.size() - std::min(all.size(), most_rows); i < all.size(); ++i)
      table.rows.push_back({cat(all[i].step), format_bytes(static_cast<double>(all[i].size_bytes)),
                            all[i].time > 0 ? shown_time(all[i].time) : "",
                            all[i].damage.empty() ? "whole, by its size" : all[i].damage});
    if (report_.series.checkpoint_count > 0) {
      double seconds = 0, count = 0;
      for (const nlohmann::json& event : report_.series.checkpoints)
        if (const double took = number_or(event, "seconds", NAN); std::isfinite(took))
          seconds += took, ++count;
      table.left_out = cat(report_.series.checkpoint_count, " were written",
                           count > 0 ? cat(", which took ", shown_seconds(seconds / count),
                                           " each in the background")
                                     : "",
                           "; ", all.size(), " are there.");
    }
    add_block(section, std::move(table));
    return section;
  }

  // -- what was used
  PageSection used() const {
    PageSection section{.title = "What really ran", .blocks = {}};
    PageTable table{.columns = {}, .rows = {}, .first_numbers = 2};
    const nlohmann::json& record = report_.record;
    const nlohmann::json& plan = member_or_null(record, "plan");
    const nlohmann::json& batch = member_or_null(plan, "batch");
    const auto part = [&](const char* key) { return integer_or(batch, key, 0); };
    if (part("global") > 0)
      add_row(table, "batch",
              cat(part("global"), " samples per step",
                  part("world_size") > 0 && part("micro") > 0 && part("accumulation") > 0
                      ? cat(" = ", part("world_size"), " ranks × micro-batch ", part("micro"),
                            " × accumulation ", part("accumulation"))
                      : ""));
    const nlohmann::json& precision = member_or_null(plan, "precision");
    add_row(table, "precision",
            cat(text_or(precision, "type", ""), is_true(precision, "tf32") ? ", TF32" : ""));
    const nlohmann::json& parameters = member_or_null(plan, "parameters");
    if (std::isfinite(number_or(parameters, "trained", NAN)))
      add_row(table, "parameters",
              cat(format_count(number_or(parameters, "trained", 0)), " trained, ",
                  format_count(number_or(parameters, "frozen", 0)), " frozen"));
    for (const auto& [key, name] : {std::pair{"train_samples", "training samples"},
                                    {"valid_samples", "validation samples"},
                                    {"steps_per_epoch", "steps of an epoch"},
                                    {"recomputed_blocks", "recomputed blocks"}})
      add_row(table, name, text_of_value(member_or_null(plan, key)));
    add_row(table, "schedule", schedule_text(member_or_null(plan, "schedule")));
    add_row(table, "devices", report_.summary.devices);
    for (const char* key : {"lockstep", "torch", "driver", "host", "plugin"})
      add_row(table, key, text_of_value(member_or_null(record, key)));
    const nlohmann::json& git = member_or_null(record, "git");
    if (git.is_object())
      add_row(table, "git",
              cat(text_or(git, "commit", "").substr(0, 12), " ", text_or(git, "branch", ""),
                  is_true(git, "dirty") ? ", with changes" : ""));
    add_row(table, "command", words_text(member_or_null(record, "command")));
    add_row(table, "path", report_.summary.path);
    add_result(table, "", member_or_null(record, "result"), 0);
    add_block(section, std::move(table));
    return section;
  }

  static std::string words_text(const nlohmann::json& words) {
    std::vector<std::string> parts;
    if (words.is_array())
      for (const nlohmann::json& word : words) parts.push_back(text_of_value(word));
    return join(parts, " ");
  }
  static std::string schedule_text(const nlohmann::json& schedule) {
    if (!schedule.is_object()) return text_of_value(schedule);
    std::vector<std::string> parts;
    for (const auto& [key, value] : schedule.items())
      if (!value.is_null()) parts.push_back(cat(key, " ", text_of_value(value)));
    return join(parts, ", ");
  }

  // Adds results that a recipe trained in the tool has recorded.
  static void add_result(PageTable& table, const std::string& name, const nlohmann::json& value,
                         int level) {
    constexpr int deepest = 3;
    constexpr std::size_t most = 200, longest = 400;
    if (table.rows.size() >= most) return;
    if (value.is_object() && level < deepest) {
      for (const auto& [key, inner] : value.items())
        add_result(table, name.empty() ? key : cat(name, ".", key), inner, level + 1);
    } else if (!value.is_null()) {
      std::string text = text_of_value(value);
      if (text.size() > longest) text = cat(text.substr(0, longest), " …");
      add_row(table, name.empty() ? "result" : name, text);
    }
  }

  PageSection changed() const {
    PageSection section{.title = "Options other than the default", .blocks = {}};
    PageTable table{.columns = {"option", "value", "default"}, .rows = {}, .first_numbers = 3};
    for (const RunOption& option : report_.changed)
      table.rows.push_back({option.key, option.value, option.standard});
    if (!report_.defaults_known && !report_.options.empty())
      section.blocks.emplace_back(PageText{
          "The recipe is not known to this program, and so are its defaults; all options are "
          "listed below."});
    add_block(section, std::move(table));
    return section;
  }
  PageSection all_options() const {
    PageSection section{.title = "All options", .blocks = {}, .folded = true};
    PageTable table{.columns = {"option", "value"}, .rows = {}, .first_numbers = 2};
    for (const RunOption& option : report_.options)
      table.rows.push_back({option.key, option.value});
    add_block(section, std::move(table));
    return section;
  }
  PageSection files() const {
    PageSection section{.title = "Files", .blocks = {}, .folded = true};
    constexpr std::size_t named = 8;
    PageTable table{.columns = {"", "size", "files"}, .rows = {}, .first_numbers = 3};
    for (const RunFolder& folder : report_.files) {
      std::vector<std::string> names(
          folder.files.begin(),
          folder.files.begin() + static_cast<std::ptrdiff_t>(std::min(named, folder.files.size())));
      table.rows.push_back({folder.name, format_bytes(static_cast<double>(folder.bytes)),
                            folder.files.size() > named
                                ? cat(folder.files.size(), " files: ", join(names, ", "), ", …")
                                : join(names, ", ")});
    }
    add_block(section, std::move(table));
    return section;
  }

  const RunReport& report_;
  CurveAxis axis_;
};

}  // namespace

CurveFrame metric_frame(const std::string& name, const std::string& unit, const Curve& curve,
                        CurveAxis axis) {
  CurveFrame frame{.title = cat(name, " (validation", unit.empty() ? "" : cat(", ", unit), ")"),
                   .axis = axis};
  const CurveTotals& totals = curve.totals();
  if (unit.empty() && name != "loss" && totals.low >= 0 && totals.high <= 1)
    frame.low = 0, frame.high = 1;
  frame.may_be_log = !frame.high;
  return frame;
}

Page run_report_page(const RunReport& report, CurveAxis axis) {
  return RunPageMaker(report, axis).page();
}

}  // namespace lockstep
