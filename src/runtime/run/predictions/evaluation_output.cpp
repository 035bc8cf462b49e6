#include "runtime/run/predictions/evaluation_output.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/beneath.h"
#include "core/base/files/fd.h"
#include "core/base/files/files.h"
#include "core/base/files/unfinished.h"
#include "core/base/files/write_all.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/checkpoint_names.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 120, most_problems = 8;
constexpr const char* tables_folder = "evaluations";
constexpr const char* media_folder_name = "media";

bool is_file_name(const std::string& name) {
  if (name.empty() || name.size() > longest_name || name[0] == '.') return false;
  return std::none_of(name.begin(), name.end(), [](const char c) {
    return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

// Packs a number, in this machine's byte order. It precedes the bytes that it counts.
void put(std::string& to, std::uint64_t number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  to.append(bytes, sizeof bytes);
}

std::uint64_t take(const std::string& from, std::size_t& at) {
  std::uint64_t number = 0;
  std::memcpy(&number, from.data() + at, sizeof number);
  at += sizeof number;
  return number;
}

std::string take_text(const std::string& from, std::size_t& at) {
  const auto size = static_cast<std::size_t>(take(from, at));
  at += size;
  return from.substr(at - size, size);
}

// Writes without fsync, because these files can be made again.
void write_plain(const Beneath& run, const fs::path& path, const std::string& bytes) {
  UniqueFd fd = run.open(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!fd || !write_all(fd.get(), bytes) || ::close(fd.release()) != 0)
    run.fail("write", path, errno);
}

// Writes a step's folder under another name first. So it exists either completely or not at all.
void write_folder(const Beneath& run, const fs::path& folder,
                  const std::vector<const EvaluationOutput::File*>& files) {
  const fs::path parent = folder.parent_path();
  const std::string name = folder.filename().string();
  const fs::path fresh = parent / unfinished_name(name);
  if (!run.make_folders(parent)) run.fail("create folder", parent, errno);
  remove_abandoned(run, parent);
  if (!run.make_folder(fresh)) run.fail("create folder", fresh, errno);
  const UniqueFd held = run.open(fresh, O_RDONLY | O_DIRECTORY);
  if (held) ::flock(held.get(), LOCK_EX | LOCK_NB);
  try {
    for (const EvaluationOutput::File* file : files)
      write_plain(run, fresh / file->name, file->bytes);
    replace_directory(run, fresh, folder, parent / (aside_prefix + name));
    run.remove_folder(fresh);  // holds the older folder if the two were exchanged
  } catch (...) {
    run.remove_folder(fresh);
    throw;
  }
}

// Removes leftovers of killed replacements and of earlier versions. They must be old enough that no
// process uses them.
void remove_left_behind(const Beneath& run, const fs::path& folder) {
  constexpr double long_ago_s = 600;
  for (const std::string& name : run.names_in(folder)) {
    if (!name.starts_with(temporary_prefix) && !name.starts_with(aside_prefix)) continue;
    const auto found = run.status(folder / name);
    if (found && system_clock().wall_s() - static_cast<double>(found->st_mtime) > long_ago_s)
      run.remove_folder(folder / name);
  }
}

std::vector<std::int64_t> steps_in(const Beneath& run, const fs::path& folder) {
  std::vector<std::int64_t> steps;
  for (const std::string& name : run.names_in(folder))
    if (const auto step = step_of(name)) steps.push_back(*step);
  return steps;
}

}  // namespace

EvaluationOutput::EvaluationOutput(fs::path run_dir, std::int64_t step, OutputLimits limits,
                                   std::string mark)
    : run_dir_(std::move(run_dir)), step_(step), mark_(std::move(mark)), limits_(limits) {}

std::string EvaluationOutput::folder_name() const {
  return checkpoint_name(step_) + (mark_.empty() ? "" : "-" + mark_);
}

fs::path EvaluationOutput::folder() const { return run_dir_ / tables_folder / folder_name(); }

fs::path EvaluationOutput::media_folder() const {
  return run_dir_ / media_folder_name / folder_name();
}

void EvaluationOutput::problem(std::string text) {
  if (problems_.size() < most_problems) problems_.push_back(std::move(text));
}

bool EvaluationOutput::has_room(const std::string& name, bool picture) {
  if (picture && pictures_ >= limits_.pictures) return false;
  if (!is_file_name(name)) {
    problem(cat("\"", printable(name.substr(0, longest_name)), "\" is no name of a file"));
    return false;
  }
  const bool taken = std::any_of(files_.begin(), files_.end(), [&](const File& file) {
    return file.picture == picture && file.name == name;
  });
  if (taken) problem(cat("there are two files named ", name));
  return !taken;
}

void EvaluationOutput::add(File file) {
  if (!has_room(file.name, file.picture)) return;
  if (bytes_ + std::ssize(file.bytes) > limits_.bytes) {
    problem(cat(file.name, " is left out: the evaluation's files take more than ",
                format_bytes(static_cast<double>(limits_.bytes))));
    return;
  }
  bytes_ += std::ssize(file.bytes);
  if (file.picture) ++pictures_;
  files_.push_back(std::move(file));
}

void EvaluationOutput::picture(const std::string& name, const std::string& extension,
                               std::string bytes) {
  add({.name = cat(name, ".", extension), .bytes = std::move(bytes), .picture = true});
}

void EvaluationOutput::picture(const std::string& name, const std::string& extension,
                               const std::function<std::string()>& encode) {
  const std::string file = cat(name, ".", extension);
  if (has_room(file, true)) add({.name = file, .bytes = encode(), .picture = true});
}

void EvaluationOutput::table(const std::string& name, const ItemTable& table) {
  if (const std::string fault = fault_of(table); !fault.empty()) {
    problem(cat("the table ", name, " cannot be written: ", fault));
    return;
  }
  ItemTable shown = table;
  if (std::ssize(shown.rows) > limits_.rows) {
    problem(cat("of the ", shown.rows.size(), " rows of the table ", name, " the first ",
                limits_.rows, " are written (eval.table_rows)"));
    shown.rows.resize(static_cast<std::size_t>(limits_.rows));
  }
  add({.name = name + ".csv", .bytes = to_csv(shown)});
  add({.name = name + ".json", .bytes = to_json_text(shown)});
}

void EvaluationOutput::set_items(ItemTable items) {
  if (const std::string fault = fault_of(items); !fault.empty())
    problem(cat("the table items cannot be written: ", fault));
  else
    items_ = std::move(items);
}

void EvaluationOutput::clear() {
  items_ = {};
  files_.clear();
  problems_.clear();
  pictures_ = bytes_ = 0;
}

std::string EvaluationOutput::packed() const {
  std::string bytes;
  put(bytes, problems_.size());
  for (const std::string& text : problems_) {
    put(bytes, text.size());
    bytes += text;
  }
  for (const File& file : files_) {
    put(bytes, file.picture ? 1 : 0);
    put(bytes, file.name.size());
    bytes += file.name;
    put(bytes, file.bytes.size());
    bytes += file.bytes;
  }
  return bytes;
}

void EvaluationOutput::add_packed(const std::string& bytes) {
  std::size_t at = 0;
  for (std::uint64_t left = take(bytes, at); left > 0; --left) problem(take_text(bytes, at));
  while (at < bytes.size()) {
    const bool picture = take(bytes, at) == 1;
    std::string name = take_text(bytes, at);
    add({.name = std::move(name), .bytes = take_text(bytes, at), .picture = picture});
  }
}

std::vector<std::string> write_output(const EvaluationOutput& output, const std::string& metrics) {
  EvaluationOutput tables = output;  // a copy to which the table of items is added
  if (!output.items().empty()) tables.table("items", output.items());
  std::vector<std::string> problems = tables.problems();
  const EvaluationOutput::File of_metrics{.name = "metrics.json", .bytes = metrics};
  std::vector<const EvaluationOutput::File*> beside{&of_metrics}, media;
  for (const EvaluationOutput::File& file : tables.files())
    (file.picture ? media : beside).push_back(&file);
  const auto replace = [&](const fs::path& folder, const auto& files) {
    try {
      const Beneath run(output.run_dir());
      if (!files.empty())
        write_folder(run, folder, files);
      else
        run.remove_folder(folder);
    } catch (const std::exception& error) {
      problems.push_back(error.what());
    }
  };
  replace(fs::path(tables_folder) / output.folder_name(), beside);
  replace(fs::path(media_folder_name) / output.folder_name(), media);
  return problems;
}

bool was_best_output(const fs::path& run_dir, std::int64_t step) {
  const fs::path file = fs::path(tables_folder) / checkpoint_name(step) / "metrics.json";
  try {
    return is_true(parse_object(read_run_file(run_dir, file, record_bytes).value_or("")), "best");
  } catch (const Error&) {
    return false;
  }
}

void prune_outputs(const fs::path& run_dir, std::int64_t keep) try {
  const Beneath run(run_dir);
  std::set<std::int64_t> steps;
  for (const char* folder : {tables_folder, media_folder_name}) {
    remove_left_behind(run, folder);
    for (const std::int64_t step : steps_in(run, folder)) steps.insert(step);
  }
  std::optional<std::int64_t> best;
  for (const std::int64_t step : steps)
    if (was_best_output(run_dir, step)) best = step;
  std::int64_t newer = std::ssize(steps);
  for (const std::int64_t step : steps) {
    if (--newer < keep || step == best) continue;
    for (const char* folder : {tables_folder, media_folder_name})
      run.remove_folder(fs::path(folder) / checkpoint_name(step));
  }
} catch (const Error&) {
  return;  // the run was removed
}

}  // namespace lockstep
