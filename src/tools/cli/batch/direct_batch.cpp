// Makes the job file of a batch for a recipe that trains in the tool.
#include "core/base/error.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/config/read_toml.h"
#include "runtime/launch/launch.h"
#include "tools/cli/context.h"
#include "tools/cli/direct.h"
#include "tools/jobs/job_key.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace lockstep::cli {
namespace {

using Words = std::vector<std::string>;

struct Axis {
  std::string key;
  // values: each value once. repeated: values that were given more than once.
  Words values, repeated{};
};

struct Settings {
  Words common;  // "key=value" that all jobs share
  std::vector<Axis> axes;
};

bool has_word(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::pair<std::string, std::string> parts_of(const std::string& word) {
  const std::size_t equals = word.find('=');
  return {trim(word.substr(0, equals)), word.substr(equals + 1)};
}

// Splits a text at commas. A comma behind a backslash does not split, and keeps its backslash.
Words split_values(const std::string& text) {
  Words values(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      values.emplace_back();
      continue;
    }
    values.back() += text[i];
    if (text[i] == '\\' && i + 1 < text.size()) values.back() += text[++i];
  }
  return values;
}

// Whether the option takes one value. Several values of such an option form an axis of the batch.
bool takes_one(const DirectOptions& options, const std::string& key) {
  for (const OptionInfo& option : options.table.options())
    if (option.key == key) return option.type != OptionType::list && !option.spec.is_path;
  return false;
}

// Removes the backslashes before commas in a single value. Lists keep them, because the option
// table reads them itself.
std::string one_value(const DirectOptions& options, const std::string& key, std::string value) {
  if (!takes_one(options, key)) return value;
  for (std::size_t at = 0; (at = value.find("\\,", at)) != value.npos; ++at) value.erase(at, 1);
  return value;
}

// The value as a user would type it as one value.
std::string typed(const nlohmann::json& value) {
  if (!value.is_string())
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string text = value.get<std::string>();
  for (std::size_t at = 0; (at = text.find(',', at)) != text.npos; at += 2)
    text.insert(at, 1, '\\');
  return text;
}

// Config files may give several values for an option that takes one. Returns these lists as a user
// would type them. The later file wins. A single value in it is returned too, because the option
// would refuse the earlier file's list.
Words lists_of_files(const DirectOptions& options, const Words& files) {
  std::map<std::string, std::string> lists;
  for (const std::string& file : files) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) continue;  // a pipe can be read only once
    for (const detail::TomlEntry& entry : detail::read_toml(file)) {
      const bool is_list = entry.value.is_array();
      if (!takes_one(options, entry.key) || (!is_list && !lists.contains(entry.key))) continue;
      Words values;
      if (!is_list) values.push_back(typed(entry.value));
      for (const nlohmann::json& value : is_list ? entry.value : nlohmann::json::array())
        values.push_back(typed(value));
      lists.erase(entry.key);
      if (!values.empty()) lists[entry.key] = join(values, ",");
    }
  }
  Words words;
  for (const auto& [key, list] : lists) words.push_back(cat(key, "=", list));
  return words;
}

// The value as the option itself writes it, for example 0.1 for 0.10. A wrong value is refused
// later.
std::string as_written(DirectOptions& options, const std::string& key, const std::string& value) {
  try {
    options.table.set(key, value);
    return options.table.get(key);
  } catch (const Error&) {
    return value;
  }
}

Axis axis_of(DirectOptions& options, const std::string& key, const Words& values) {
  Axis axis{key, {}};
  Words seen;
  for (const std::string& one : values) {
    std::string value = one_value(options, key, trim(one));
    std::string written = as_written(options, key, value);
    if (!has_word(seen, written)) {
      axis.values.push_back(std::move(value));
      seen.push_back(std::move(written));
    } else if (!has_word(axis.repeated, written)) {
      axis.repeated.push_back(std::move(written));
    }
  }
  return axis;
}

Settings split_settings(DirectOptions& options, const Words& assignments) {
  Settings settings;
  for (const std::string& word : assignments) {
    const auto [key, value] = parts_of(word);
    const Words values = split_values(value);
    std::erase_if(settings.axes, [&](const Axis& axis) { return axis.key == key; });
    if (values.size() > 1 && (is_pair(options, key) || takes_one(options, key))) {
      settings.axes.push_back(axis_of(options, key, values));
      continue;
    }
    const std::string only = one_value(options, key, value);
    settings.common.push_back(only == value ? word : cat(key, "=", only));
  }
  return settings;
}

// Every combination of the axes, as "key=value" words.
std::vector<Words> combinations(const std::vector<Axis>& axes) {
  constexpr std::size_t most = 10'000;
  std::vector<Words> all{{}};
  for (const Axis& axis : axes) {
    std::vector<Words> longer;
    for (const Words& words : all)
      for (const std::string& value : axis.values) {
        longer.push_back(words);
        longer.back().push_back(cat(axis.key, "=", value));
      }
    if (longer.size() > most) throw Error(cat("more than ", most, " combinations of options"));
    all = std::move(longer);
  }
  return all;
}

// The text as a TOML string.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string list_of(const Words& words) {
  Words all;
  for (const std::string& word : words) all.push_back(quoted(word));
  return "[" + join(all, ", ") + "]";
}

// The requirements that all jobs of one combination have.
struct JobNeeds {
  std::int64_t cpus = 1;
  std::string gpus;
  Words more_options;
  bool operator==(const JobNeeds&) const = default;
};

struct Planned {
  bool searches = false;                   // --search is given; it affects the cores of a job
  std::unique_ptr<DirectOptions> options;  // options of the first combination
  DirectBatch batch;                       // jobs of the first combination
  Settings settings;
  std::vector<DirectSetting> each;                     // settings of every combination
  std::vector<JobNeeds> needs{};                       // requirements of every combination
  std::vector<std::pair<std::string, Words>> notes{};  // each note with its combinations
  std::size_t skipped = 0;                             // skipped jobs of all combinations together
  Words left_out{};  // left-out parts of all combinations, each once
};

void add_notes(Planned& planned, const std::vector<std::string>& notes, const std::string& words) {
  for (const std::string& note : notes) {
    auto known = std::find_if(planned.notes.begin(), planned.notes.end(),
                              [&](const auto& one) { return one.first == note; });
    if (known == planned.notes.end()) known = planned.notes.insert(known, {note, {}});
    known->second.push_back(words);
  }
}

// Adds to each note the combinations to which it applies. Nothing is added if it applies to all or
// names them already.
std::vector<std::string> notes_of(const Planned& planned, std::int64_t jobs) {
  std::vector<std::string> texts;
  for (const auto& [note, combinations] : planned.notes) {
    std::string whose;
    if (combinations.size() == 1 && note.find(combinations[0]) == note.npos)
      whose = cat(" (", combinations[0], ")");
    if (combinations.size() > 1 && combinations.size() < planned.each.size())
      whose = cat(" (with ", combinations.size(), " of ", planned.each.size(), " settings)");
    texts.push_back(note + whose);
  }
  for (const Axis& axis : planned.settings.axes)
    for (const std::string& value : axis.repeated)
      texts.push_back(cat(axis.key, "=", value, " is given more than once: it is one setting"));
  if (planned.each.size() > 1)
    texts.push_back(cat("each with ", planned.each.size(), " settings: ", jobs, " jobs"));
  return texts;
}

// The job in the middle of the list, as arguments of `lockstep train`.
Words one_job(const DirectBatch& batch, Words assignments) {
  if (batch.rows.empty()) return assignments;
  const std::vector<std::string>& row = batch.rows[batch.rows.size() / 2];
  for (std::size_t i = 0; i < row.size(); ++i)
    assignments.push_back(cat(batch.keys[i], "=", row[i]));
  return assignments;
}

Planned plan(const DirectRecipe& recipe, const Parsed& parsed) {
  Planned planned{.searches = parsed.has("--search")};
  const std::unique_ptr<DirectOptions> known = recipe.make_options();
  Words assignments = lists_of_files(*known, parsed.all("--config"));
  assignments.insert(assignments.end(), parsed.assignments.begin(), parsed.assignments.end());
  planned.settings = split_settings(*known, assignments);
  for (const Words& words : combinations(planned.settings.axes)) {
    Parsed one;  // the command without flags of the batch itself, such as --devices
    if (parsed.has("--config")) one.values["--config"] = parsed.all("--config");
    one.assignments = planned.settings.common;
    one.assignments.insert(one.assignments.end(), words.begin(), words.end());
    std::unique_ptr<DirectOptions> options = resolve_direct(
        recipe, one,
        {.names = {"--name", "--slots", "--devices"}, .devices = parsed.value("--devices")});
    DirectBatch batch = options->plan_batch();
    for (const Axis& axis : planned.settings.axes)
      if (has_word(batch.keys, axis.key))
        throw Error(cat(axis.key, " differs from job to job, and takes no list here"));
    add_notes(planned, batch.notes, join(words, " "));
    for (const std::string& line : batch.left_out)
      if (!has_word(planned.left_out, line)) planned.left_out.push_back(line);
    planned.skipped += batch.skipped;
    planned.each.push_back({.words = join(words, " "),
                            .jobs = static_cast<std::int64_t>(batch.rows.size()),
                            .one_job = one_job(batch, one.assignments),
                            .cpus = static_cast<double>(batch.cpus),
                            .gpus = batch.gpus,
                            .is_alike = batch.is_alike});
    planned.needs.push_back({batch.cpus, batch.gpus, batch.more_options});
    if (planned.options == nullptr) {
      planned.options = std::move(options);
      planned.batch = std::move(batch);
    } else if (batch.rows != planned.batch.rows) {
      throw Error(cat("there are other jobs with ", join(words, " ")), "make a batch of each");
    }
  }
  return planned;
}

// The entries of the pairs option that are the same for all jobs.
std::string same_pairs(const Planned& planned) {
  const std::string& key = planned.options->pairs;
  Words words = split_values(planned.options->table.get(key));
  std::erase_if(words, [&](const std::string& word) {
    return std::any_of(
        planned.settings.axes.begin(), planned.settings.axes.end(),
        [&](const Axis& axis) { return axis.key == cat(key, ".", parts_of(word).first); });
  });
  return join(words, ",");
}

// Combinations whose jobs have the same requirements.
struct NeedsGroup {
  std::vector<Axis> axes;
  std::size_t first = 0;  // index of the first of these combinations
};

// Whether a change of this axis alone changes the requirements. stride: the distance in `needs`
// between its successive values.
bool decides_needs(const std::vector<JobNeeds>& needs, std::size_t stride, std::size_t values) {
  for (std::size_t i = 0; i + stride < needs.size(); ++i)
    if (i / stride % values + 1 < values && needs[i] != needs[i + stride]) return true;
  return false;
}

// Makes one group for each value of an axis that changes the requirements.
std::vector<NeedsGroup> needs_groups(const Planned& planned) {
  std::vector<NeedsGroup> groups{{planned.settings.axes}};
  std::size_t stride = planned.needs.size();
  for (std::size_t a = 0; a < planned.settings.axes.size(); ++a) {
    const Words& values = planned.settings.axes[a].values;
    stride /= values.size();
    if (!decides_needs(planned.needs, stride, values.size())) continue;
    std::vector<NeedsGroup> smaller;
    for (const NeedsGroup& group : groups)
      for (std::size_t i = 0; i < values.size(); ++i) {
        smaller.push_back(group);
        smaller.back().axes[a].values = {values[i]};
        smaller.back().first += i * stride;
      }
    groups = std::move(smaller);
  }
  return groups;
}

Words command_of(const DirectRecipe& recipe, const Planned& planned, const JobNeeds& needs,
                 const std::string& program) {
  Words command{job_literal(program), "train", recipe.name};
  const OptionTable& table = planned.options->table;
  const auto varies = [&](const std::string& key) {
    return has_word(planned.batch.keys, key) || has_word(planned.batch.only_batch, key) ||
           key == "run.root" ||
           std::any_of(planned.settings.axes.begin(), planned.settings.axes.end(),
                       [&](const Axis& axis) { return axis.key == key; });
  };
  for (const std::string& key : table.keys()) {
    if (!table.is_given(key) || varies(key)) continue;
    const std::string value = key == planned.options->pairs ? same_pairs(planned) : table.get(key);
    if (key != planned.options->pairs || !value.empty())
      command.push_back(job_literal(cat(key, "=", value)));
  }
  for (const std::string& word : needs.more_options)
    if (const std::string key = parts_of(word).first;
        !table.is_given(key) || has_word(planned.batch.only_batch, key))
      command.push_back(word);
  if (const std::string& key = planned.batch.cpus_key;
      planned.searches && !key.empty() && !table.is_given(key) && !varies(key))
    command.push_back(cat(key, "={cores}"));
  for (const Axis& axis : planned.settings.axes)
    command.push_back(cat(axis.key, "={", axis.key, "}"));
  for (const std::string& key : planned.batch.keys) command.push_back(cat(key, "={", key, "}"));
  return command;
}

std::string matrix_of(const Planned& planned, const NeedsGroup& group, const char* table) {
  std::string text = cat("[", table, "]\n");
  for (const Axis& axis : group.axes)
    text += cat(quoted(axis.key), " = ", list_of(axis.values), "\n");
  text += "job = [\n";
  for (const Words& row : planned.batch.rows) {
    Words cells;
    for (std::size_t i = 0; i < row.size(); ++i)
      cells.push_back(cat(quoted(planned.batch.keys[i]), " = ", quoted(row[i])));
    text += cat("  {", join(cells, ", "), "},\n");
  }
  return text + "]\n";
}

std::string command_key(const DirectRecipe& recipe, const Planned& planned, const NeedsGroup& group,
                        const std::string& program) {
  return cat("command = ",
             list_of(command_of(recipe, planned, planned.needs[group.first], program)), "\n");
}

std::string needs_lines(const JobNeeds& needs) {
  const bool is_number = needs.gpus.find_first_not_of("0123456789.") == std::string::npos;
  return cat("cpus = ", needs.cpus, "\ngpus = ", is_number ? needs.gpus : quoted(needs.gpus), "\n");
}

std::string name_of(const Planned& planned) {
  std::string name = planned.batch.job_name;
  for (const Axis& axis : planned.settings.axes) name += cat(",", axis.key, "={", axis.key, "}");
  return name;
}

// The options that jobs record, as "key=value" words. "" if there are none. Options that form an
// axis are left out, because they are in each job's command.
std::string recorded_words(const Planned& planned) {
  Words words;
  for (const std::string& key : planned.batch.recorded)
    if (planned.options->table.is_given(key) &&
        std::none_of(planned.settings.axes.begin(), planned.settings.axes.end(),
                     [&](const Axis& axis) { return axis.key == key; }))
      words.push_back(cat(key, "=", planned.options->table.get(key)));
  return join(words, " ");
}

std::string recorded_entry() { return cat(", ", batch_options_variable, " = "); }

std::string env_line(const Planned& planned, const std::string& batch_name) {
  const std::string recorded = recorded_words(planned);
  return cat("env = {LOCKSTEP_BATCH = ", quoted(batch_name),
             recorded.empty() ? "" : recorded_entry() + quoted(recorded), "}\n");
}

constexpr std::string_view left_out_key = "left_out = ";
constexpr std::string_view row_begin = "  {";  // the beginning of a job's line in a matrix

// The text without lines that do not define jobs. These lines hold options that jobs only record,
// or parts of the data without a job.
std::string without_notes(const std::string& toml) {
  const std::string entry = recorded_entry();
  Words lines = split(toml, '\n');
  std::erase_if(lines, [](const std::string& line) { return line.starts_with(left_out_key); });
  for (std::string& line : lines)
    if (const std::size_t at = line.find(entry); line.starts_with("env = {") && at != line.npos) {
      const std::size_t value = at + entry.size() + 1;
      line.erase(at, line.find('"', value) + 1 - at);
    }
  return join(lines, "\n");
}

// The command line that made the batch, with the batch's name.
std::string made_by(const DirectRecipe& recipe, const Parsed& parsed,
                    const std::string& batch_name) {
  Words words{"lockstep", "batch", recipe.name};
  for (const std::string& word : parsed.assignments) words.push_back(shell_word(word));
  for (const auto& [flag, values] : parsed.values) {
    if (flag == "--name") continue;
    for (const std::string& value : values) {
      words.push_back(flag);
      if (!value.empty()) words.push_back(shell_word(value));
    }
  }
  words.insert(words.end(), {"--name", shell_word(batch_name)});
  return join(words, " ");
}

// Jobs with different requirements become separate [[jobs]] tables, below the keys that they share.
std::string job_file_text(const DirectRecipe& recipe, const Planned& planned,
                          const std::string& program, const std::string& batch_name) {
  const DirectBatch& batch = planned.batch;
  const std::vector<NeedsGroup> groups = needs_groups(planned);
  const bool is_one = groups.size() == 1;
  std::string text = cat(
      "# A batch of ", recipe.name, ": edit it, and run it (again) with lockstep batch run FILE.\n",
      is_one ? command_key(recipe, planned, groups[0], program) : "",
      "name = ", quoted(name_of(planned)), "\noutputs = ", list_of(batch.outputs), "\n",
      env_line(planned, batch_name), "workers = \"kept\"\n",
      is_one ? needs_lines(planned.needs[0]) : "", "skip_codes = [", static_cast<int>(exit_skipped),
      "]\nretries = ", batch.retries, "\nretry_delay = ", general(batch.retry_delay_s, 6),
      "\ntimeout = ", general(batch.timeout_s, 6),
      "\nmax_failure_rate = ", general(batch.max_failure_rate, 6),
      planned.left_out.empty() ? "" : cat("\n", left_out_key, list_of(planned.left_out)), "\n\n");
  if (is_one) return text + matrix_of(planned, groups[0], "matrix");
  for (const NeedsGroup& group : groups)
    text += cat("[[jobs]]\n", command_key(recipe, planned, group, program),
                needs_lines(planned.needs[group.first]), "\n",
                matrix_of(planned, group, "jobs.matrix"), &group == &groups.back() ? "" : "\n");
  return text;
}

}  // namespace

bool have_same_jobs(const std::string& toml, const std::string& other) {
  return without_notes(toml) == without_notes(other);
}

bool takes_up_left_out(const std::string& toml, const std::string& earlier) {
  Words names;  // names of parts without a job, as TOML values
  std::set<std::string> jobs, before;
  Words lines, lines_before;
  const auto divide = [](const std::string& text, std::set<std::string>& rows, Words& others) {
    for (const std::string& line : split(text, '\n'))
      if (line.starts_with(row_begin))
        rows.insert(line);
      else
        others.push_back(line);
  };
  divide(without_notes(toml), jobs, lines);
  divide(without_notes(earlier), before, lines_before);
  if (lines != lines_before ||
      !std::includes(jobs.begin(), jobs.end(), before.begin(), before.end()))
    return false;
  for (const std::string& line : split(earlier, '\n')) {
    if (!line.starts_with(left_out_key)) continue;
    const nlohmann::json kept = parse_json(line.substr(left_out_key.size()));
    if (!kept.is_array()) return false;
    for (const nlohmann::json& one : kept)
      if (one.is_string())
        names.push_back(
            cat("= ", quoted(one.get<std::string>().substr(0, one.get<std::string>().find(": ")))));
  }
  return std::all_of(jobs.begin(), jobs.end(), [&](const std::string& job) {
    return before.contains(job) ||
           std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return job.find(name) != job.npos; });
  });
}

DirectJobs direct_jobs(const DirectRecipe& recipe, const Parsed& parsed, const std::string& program,
                       const std::function<std::string(const DirectJobs&)>& name) {
  Planned planned = plan(recipe, parsed);
  const DirectBatch& batch = planned.batch;
  if (batch.rows.empty())
    throw Error(cat("there is no job of ", recipe.name, " with these options"));
  std::int64_t jobs = static_cast<std::int64_t>(batch.rows.size());
  for (const Axis& axis : planned.settings.axes)
    jobs *= static_cast<std::int64_t>(axis.values.size());
  if (planned.skipped == static_cast<std::size_t>(jobs))
    throw Error(cat(jobs == 1 ? "the only job would be skipped: "
                              : cat("each of the ", jobs, " jobs would be skipped; the first, "),
                    batch.why_skipped),
                "give other options or other data: such a batch has no result");
  DirectJobs made{.jobs = jobs,
                  .run_root = planned.options->run_root,
                  .notes = notes_of(planned, jobs),
                  .on_cpu = batch.on_cpu,
                  .on_gpu = batch.on_gpu,
                  .settings = planned.each};
  made.name = name(made);
  made.toml = job_file_text(recipe, planned, program, made.name);
  made.made_by = made_by(recipe, parsed, made.name);
  return made;
}

}  // namespace lockstep::cli
