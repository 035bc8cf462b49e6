// Implements `lockstep report`, a page of all that a run has recorded.
#include "tools/cli/compare/report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "planning/direct_recipe.h"
#include "planning/recipe_info.h"
#include "planning/run_setup.h"
#include "runtime/launch/launch.h"
#include "runtime/run/events/json_lines.h"
#include "tools/cli/batch/batch.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/output.h"
#include "tools/cli/plan/plugin_options.h"
#include "tools/cli/plan/trusted_plugins.h"
#include "tools/cli/run_root.h"
#include "tools/jobs/files/batch_shares.h"
#include "tools/report/comparison/comparison.h"
#include "tools/report/comparison/trial_source.h"
#include "tools/report/pages/page.h"
#include "tools/report/reports/batch_report.h"
#include "tools/report/reports/comparison_report.h"
#include "tools/report/reports/overlay_report.h"
#include "tools/report/reports/run_report.h"
#include "tools/report/reports/trial_report.h"
#include "tools/report/trackers/tracker_store.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

struct WholeReport {
  Page page;
  nlohmann::json json;
  fs::path folder;              // default folder of the report; empty if there is none
  std::string stem = "report";  // stem of the file names in it
};

// The default options of the record's recipe. Null if the recipe is unknown.
nlohmann::json default_options(const nlohmann::json& record) {
  const std::string recipe = text_or(record, "recipe", "");
  if (const DirectRecipe* const direct = find_direct_recipe(recipe))
    return direct->make_options()->table.to_json();
  const std::string plugin = text_or(record, "plugin", "");
  if (!plugin.empty())
    for (const nlohmann::json& known : remembered_recipes(plugin))
      if (text_or(known, "name", "") == recipe) register_described_recipe(known);
  const bool known = std::any_of(recipes().begin(), recipes().end(),
                                 [&](const RecipeInfo& info) { return info.name == recipe; });
  if (!known) return nullptr;
  bool has_gpu = false;
  if (record.contains("devices") && record["devices"].is_array())
    for (const nlohmann::json& device : record["devices"])
      has_gpu = has_gpu || text_or(device, "kind", "") == "cuda";
  const RunSetup setup = make_setup(recipe, plugin, has_gpu);
  nlohmann::json defaults = nlohmann::json::object();
  for (OptionTable* const table : setup.tables()) defaults.update(table->to_json());
  return defaults;
}

nlohmann::json default_options(const RunDir& run) try {
  return default_options(run.record());
} catch (const Error&) {
  return nullptr;
}

struct ReportForm {
  CurveAxis axis = CurveAxis::step;
  std::optional<double> smooth{};
  bool has_ended = false;
};

ReportForm report_form_of(const Parsed& parsed) {
  ReportForm form;
  const std::string axis = parsed.value("--x", "step");
  if (axis == "time")
    form.axis = CurveAxis::time;
  else if (axis == "samples")
    form.axis = CurveAxis::samples;
  else if (axis != "step")
    throw Error(cat("--x must be step, time or samples, but is \"", axis, "\""));
  if (!parsed.has("--smooth")) return form;
  const std::string text = parsed.value("--smooth");
  form.smooth = to_number(text);
  if (!form.smooth || !(*form.smooth >= 0 && *form.smooth < 1))
    throw Error(cat("--smooth must be a weight from 0 to below 1, but is \"", text, "\""),
                "0 smoothes nothing, 0.9 is about the mean of the last 10 logged steps");
  return form;
}

WholeReport report_of_run(const RunDir& run, const ReportForm& form) {
  RunReport report = read_run_report(
      run, {.smooth = form.smooth, .defaults = default_options(run), .has_ended = form.has_ended});
  const DirectRecipe* const direct = find_direct_recipe(text_or(report.record, "recipe", ""));
  if (direct != nullptr && direct->caution)
    if (std::string line = direct->caution(run.path()); !line.empty())
      report.problems.push_back({PageTone::warning, std::move(line)});
  if (form.axis == CurveAxis::samples && report.global_batch <= 0)
    throw Error(cat("run ", run.name(), " does not say how many samples a step has"),
                "leave out --x samples");
  return {run_report_page(report, form.axis), run_report_json(report), run.path()};
}

WholeReport report_of_runs(const Parsed& parsed, const ReportForm& form) {
  const std::size_t columns = columns_for(parsed.positionals.size());
  std::vector<OverlaidRun> runs;
  for (const std::string& name : parsed.positionals)
    runs.push_back(read_overlaid_run(RunDir::open(name, run_root(parsed)), form.smooth, columns));
  return {overlay_page(runs, form.axis), overlay_json(runs), {}};
}

constexpr const char* comparison_hint =
    "lockstep compare … --out FILE.json writes one; a run or a batch is named by its folder";

WholeReport report_of_comparison(const fs::path& file, const nlohmann::json& comparison) {
  if (text_or(comparison, "kind", "") != "comparison")
    throw Error(cat(file.string(), " is no comparison"), comparison_hint);
  return {comparison_page(comparison), comparison, fs::absolute(file).parent_path(),
          cat(file.stem().string(), "-report")};
}

bool names_batch(const Parsed& parsed, const std::string& name) {
  std::error_code ignored;
  for (const fs::path& path : {fs::path(run_root(parsed)) / name, fs::path(name)})
    if (fs::exists(path / "ledger.sqlite", ignored) || fs::exists(path / "shares", ignored))
      return true;
  return false;
}

// Refuses flags for curves on pages without curves along steps.
void refuse_curve_flags(const Parsed& parsed, const std::string& what) {
  for (const char* flag : {"--x", "--smooth"})
    if (parsed.has(flag))
      throw Error(
          cat(flag, " is about the curves of runs, but ", parsed.positionals[0], " is a ", what),
          cat("leave out ", flag));
}

// Whether a Lockstep run has this name.
bool names_run(const Parsed& parsed, const std::string& name) {
  std::error_code ignored;
  return fs::exists(fs::path(run_root(parsed)) / name / "run.json", ignored) ||
         fs::exists(fs::path(name) / "run.json", ignored);
}

bool is_json_file(const std::string& name) {
  std::error_code ignored;
  return fs::path(name).extension() == ".json" && fs::is_regular_file(name, ignored);
}

// Whether the name means a log of another program, or a run of a tracker.
bool names_log(const Parsed& parsed, const std::string& name) {
  if (names_run(parsed, name) || names_batch(parsed, name)) return false;
  std::error_code ignored;
  return fs::exists(name, ignored) || tracked_word(name).has_value();
}

WholeReport report_of_logs(const Parsed& parsed, const ReportForm& form) {
  if (form.smooth)
    throw Error("--smooth is about the training losses of runs, but what is named are logs",
                "leave out --smooth");
  if (form.axis == CurveAxis::samples)
    throw Error("--x samples needs to know how many samples a step has, which logs do not tell",
                "--x step or --x time");
  std::vector<Trial> trials;
  for (const std::string& name : parsed.positionals)
    trials.push_back(read_trial(name, run_root(parsed)));
  return {trials_page(trials, form.axis), trials_json(trials), {}};
}

// Reports a JSON file as a comparison or as a log. If it is neither, the error names both.
WholeReport report_of_json(const Parsed& parsed, const ReportForm& form) {
  const fs::path file = parsed.positionals[0];
  const nlohmann::json value = parse_json(read_file(file, list_bytes));
  if (value.is_object() && value.contains("kind") && value["kind"].is_string()) {
    WholeReport report = report_of_comparison(file, value);
    refuse_curve_flags(parsed, "comparison");
    return report;
  }
  try {
    return report_of_logs(parsed, form);
  } catch (const Error& error) {
    throw Error(cat(file.string(), " is no comparison, and ", error.what()), comparison_hint);
  }
}

// Compares both batches, as `lockstep compare` does.
WholeReport report_of_batches(const Parsed& parsed) {
  TrialGroup sides[2];
  for (std::size_t i = 0; i < 2; ++i) {
    Trial trial = read_trial(parsed.positionals[i], run_root(parsed));
    sides[i].name = trial.name;
    sides[i].trials.push_back(std::move(trial));
  }
  if (sides[0].name == sides[1].name) {
    sides[0].name += " (A)";
    sides[1].name += " (B)";
  }
  nlohmann::json comparison =
      comparison_json(compare(std::move(sides[0]), std::move(sides[1]), {}));
  return {comparison_page(comparison), std::move(comparison), {}};
}

// Reports one batch, or compares two. Pages of more batches, or of batches and runs together, are
// refused.
WholeReport report_with_batches(const Parsed& parsed) {
  const std::vector<std::string>& names = parsed.positionals;
  const bool all = std::all_of(names.begin(), names.end(),
                               [&](const std::string& name) { return names_batch(parsed, name); });
  if (!all || names.size() > 2) {
    std::string words;
    for (const std::string& name : names) words += " " + shell_word(name);
    throw Error("a page of batches is of one, or of two against each other",
                cat("lockstep compare", words,
                    " --table lists them; lockstep compare "
                    "--groups A=…,… B=…,… --out c.json, then lockstep report c.json, is a page of "
                    "two groups"));
  }
  refuse_curve_flags(parsed, "batch");
  if (names.size() == 2) return report_of_batches(parsed);
  const BatchFolder batch = open_batch(parsed, names[0]);
  BatchReport report = read_batch_report(batch);
  Ledger ledger = ledger_to_read(batch);
  std::vector<std::string> cautions = lines_of(cautions_of(batch, ledger));
  std::erase(cautions, "");
  report.notes.insert(report.notes.begin(), cautions.begin(), cautions.end());
  return {batch_report_page(report), batch_report_json(report), batch.path};
}

WholeReport report_of(const Parsed& parsed) {
  const ReportForm form = report_form_of(parsed);
  const std::vector<std::string>& names = parsed.positionals;
  if (names.size() == 1 && !names_run(parsed, names[0]) && is_json_file(names[0]))
    return report_of_json(parsed, form);
  if (std::any_of(names.begin(), names.end(),
                  [&](const std::string& name) { return names_log(parsed, name); }))
    return report_of_logs(parsed, form);
  if (std::any_of(names.begin(), names.end(),
                  [&](const std::string& name) { return names_batch(parsed, name); }))
    return report_with_batches(parsed);
  if (names.size() > 1) return report_of_runs(parsed, form);
  return report_of_run(operand_run(parsed), form);
}

// A file of the report: its path, and the function that makes its text.
struct ReportFile {
  fs::path path;
  std::string (*text)(const WholeReport&);
};

std::string as_html(const WholeReport& report) { return html_of(report.page); }
std::string as_markdown(const WholeReport& report) { return markdown_of(report.page); }
std::string as_json(const WholeReport& report) { return to_line(report.json) + "\n"; }

std::vector<ReportFile> all_files(const fs::path& stem) {
  const auto with = [&](const char* extension) { return fs::path(stem.string() + extension); };
  return {{with(".html"), as_html}, {with(".md"), as_markdown}, {with(".json"), as_json}};
}

std::vector<ReportFile> files_asked_for(const Parsed& parsed) {
  std::vector<ReportFile> files;
  for (const std::string& name : parsed.all("--out")) {
    const fs::path path = name;
    const std::string extension = path.extension().string();
    std::error_code ignored;
    if (!path.empty() && !path.has_filename()) make_directories(path);  // for example "pages/"
    if (fs::is_directory(path, ignored))
      for (ReportFile& file : all_files(path / "report")) files.push_back(std::move(file));
    else if (extension == ".html" || extension == ".htm")
      files.push_back({path, as_html});
    else if (extension == ".md" || extension == ".markdown")
      files.push_back({path, as_markdown});
    else if (extension == ".json")
      files.push_back({path, as_json});
    else
      throw Error(cat("--out ", name, ": its ending does not say what to write"),
                  "name a file that ends with .html, .md or .json, or a folder for all three");
  }
  for (const ReportFile& file : files) check_new_file(file.path, may_overwrite(parsed));
  return files;
}

void write_files(const WholeReport& report, const std::vector<ReportFile>& files) {
  for (const ReportFile& file : files) write_file_atomic(file.path, file.text(report));
  std::vector<std::string> names;
  for (const ReportFile& file : files) names.push_back(file.path.string());
  say(cat("wrote ", printable(join(names, ", "))));
}

// Writes into the run's own folder. An older report there is replaced.
void write_into(const WholeReport& report) try {
  std::vector<ReportFile> files = all_files(report.folder / report.stem);
  // The report of a comparison was made from its JSON form, so no JSON is written.
  if (text_or(report.json, "kind", "") == "comparison") files.pop_back();
  write_files(report, files);
} catch (const Error& error) {
  throw Error(error.what(), "name another place: --out FILE.html");
}

int report_main(const Parsed& parsed) {
  const std::vector<ReportFile> files = files_asked_for(parsed);
  if (parsed.has("--json") && !files.empty())
    throw Error("--json prints the report, and --out writes it", "leave out one of them");
  const bool draws =
      !parsed.has("--json") &&
      (files.empty() || std::any_of(files.begin(), files.end(),
                                    [](const auto& file) { return file.text != as_json; }));
  if (parsed.has("--x") && !draws)
    throw Error("--x is about drawn curves; the JSON has the step and the time of each point",
                "leave out --x");
  const bool several = parsed.positionals.size() > 1;
  if (several && files.empty() && !parsed.has("--json"))
    throw Error("a page of several runs belongs to none of them, and needs --out FILE",
                "for example: --out compared.html");
  const WholeReport report = report_of(parsed);
  if (report.folder.empty() && files.empty() && !parsed.has("--json"))
    throw Error("a page of a log of another program is not written beside it, and needs --out FILE",
                "for example: --out log.html");
  if (parsed.has("--json"))
    print(json_text(report.json));
  else if (!files.empty())
    write_files(report, files);
  else
    write_into(report);
  return exit_finished;
}

}  // namespace

void write_run_report(const RunDir& run) { write_into(report_of_run(run, {.has_ended = true})); }

Command report_command() {
  constexpr std::size_t most_runs = 100'000;
  return {.name = "report",
          .operands = "RUN|BATCH|COMPARISON.json|LOG [RUN …]",
          .summary = "a page of everything that a run, a batch or a comparison left behind",
          .details =
              "Writes HTML in one file, Markdown, and JSON: in the run's folder as report.html, "
              "report.md and report.json, or to --out. For several runs, the curves are drawn over "
              "each other; for two batches, it is their comparison. LOG is a log of another "
              "program, or STORE#RUN of an experiment tracker, as lockstep compare takes them; its "
              "page needs --out.\n" +
              std::string(run_operand_help),
          .flags = {{"--out", "FILE",
                     "place to write to: FILE.html, FILE.md or FILE.json, or a folder for all "
                     "three",
                     "file"},
                    {"--x", "WHAT", "axis of the curves: step (default), time or samples",
                     "word step|time|samples"},
                    {"--smooth", "WEIGHT",
                     "of the smoothed losses, as TensorBoard's: from 0 to below 1 (default: over a "
                     "fiftieth of the logged steps)"},
                    {"--json", "", "print the report as JSON, and write nothing"},
                    overwrite_flag()},
          .min_positionals = 1,
          .max_positionals = most_runs,
          .takes_assignments = true,
          .only_options = {"run.root"},
          .complete = "run",
          .run = report_main,
          .tried_flags = {tried_root()},
          .takes_files = true,
          .operands_have_equals = true};
}

}  // namespace lockstep::cli
