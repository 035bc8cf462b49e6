// Creates, finds and lists run directories.
#include "runtime/run/folder/run_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/beneath.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "planning/direct_recipe.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/names.h"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

// Why `name` is not a plain file name. Empty if it is one.
std::string fault_of_name(const std::string& name) {
  if (trim(name).empty()) return "is empty";
  if (name == "." || name == "..") return "means a folder that is there already";
  if (name.front() == '-') return "begins with -";
  if (name.find('/') != std::string::npos) return "contains /";
  for (const char letter : name)
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f)
      return "contains a control character";
  return "";
}

void check_name(const std::string& name) {
  const std::string fault = fault_of_name(name);
  if (!fault.empty())
    throw Error(cat("run name \"", name, "\" must be a plain file name, but it ", fault),
                "choose a name like first-try; run.root says in which folder runs lie");
}

// The recipe of an existing run. Empty if its record cannot be read.
std::string recipe_of(const fs::path& run) try {
  return text_or(parse_json(read_file(run / "run.json")), "recipe", "");
} catch (const Error&) {
  return "";
}

[[noreturn]] void throw_taken(const std::string& name, const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path / "run.json", ignored))  // for example a batch
    throw Error(cat(path.string(), " is there already"), "choose another name");
  const std::string what = cat("run \"", name, "\" is there already: ", path.string()),
                    recipe = recipe_of(path);
  if (find_direct_recipe(recipe) != nullptr)
    throw Error(what,
                cat("choose another name with --name: a run of ", recipe, " cannot be resumed"));
  throw Error(what,
              cat("choose another name, or go on with `lockstep resume ", shell_word(name), "`"));
}

[[noreturn]] void throw_cannot_make(const fs::path& path, int error) {
  throw Error(cat("cannot make the run directory ", path.string(), ": ", errno_text(error)),
              "set run.root to a folder that you can write to");
}

// Directories of runs that are being created begin with this prefix. They are not listed.
constexpr std::string_view unfinished_prefix = ".new-";

bool is_unfinished(const std::string& name) { return name.starts_with(unfinished_prefix); }

// Creates an empty folder for a new run. wanted: the run's later path, for messages.
fs::path make_unfinished(const fs::path& root, const fs::path& wanted) {
  for (int serial = 0;; ++serial) {
    const fs::path path = root / cat(unfinished_prefix, getpid(), "-", serial);
    if (mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) throw_cannot_make(wanted, errno);
  }
}

// Removes folders of runs whose creation was killed. A locked folder stays. A folder that was
// created just now also stays, because its lock may be taken next.
void remove_unfinished(const fs::path& root) {
  constexpr auto begun_just_now = std::chrono::minutes(10);
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path path = entry->path();
    if (!is_unfinished(path.filename().string())) continue;
    std::error_code ignored;
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(path, ignored);
    if (age < begun_just_now || lock_holder(path / "lock", lock_rules(path))) continue;
    fs::remove_all(path, ignored);
  }
}

bool is_run(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path / "run.json", error);
}

std::vector<std::string> names_of_runs(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error))
    if (is_run(entry->path()) && !is_unfinished(entry->path().filename().string()))
      names.push_back(entry->path().filename().string());
  return names;
}

[[noreturn]] void throw_no_run(const std::string& run, const fs::path& root) {
  for (const fs::path& path : {root / run, fs::path(run)})
    if (std::error_code error; !run.empty() && fs::is_directory(path, error))
      throw Error(cat(path.string(), " is not a run: it has no run.json"),
                  fs::exists(path / "batch.json", error)
                      ? cat("it is a batch: `lockstep batch status ", shell_word(printable(run)),
                            "` says how far it is, `lockstep report ", shell_word(printable(run)),
                            "` makes a page of it")
                      : std::string("`lockstep runs` lists the runs"));
  const std::string near = nearest(run, names_of_runs(root));
  throw Error(cat("there is no run \"", run, "\" in ", root.string()),
              near.empty() ? "`lockstep runs` lists the runs; a path to a run directory works too"
                           : cat("did you mean ", near, "?"));
}

// Makes the path end with a file name, which names the run. "runs/x/" and "." do not.
fs::path with_name(fs::path path) {
  path = path.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path.empty() || path.filename() == "." || path.filename() == "..")
    path = fs::canonical(path.empty() ? fs::path(".") : path);
  return path;
}

double start_of(const RunDir& run) {
  try {
    return number_or(run.record(), "started", 0);
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace

void RunDir::check_new(const fs::path& root, const std::string& name) {
  if (name.empty()) return;
  check_name(name);
  std::error_code error;
  if (fs::exists(fs::symlink_status(root / name, error))) throw_taken(name, root / name);
  if (error == std::errc::filename_too_long) throw_cannot_make(root / name, ENAMETOOLONG);
}

RunDir RunDir::create(const fs::path& root, const std::string& name, const std::string& recipe,
                      const std::function<void(RunDir&)>& fill) {
  const std::string base = name.empty() ? name_by_time(recipe) : name;
  check_name(base);
  check_new(root, name);
  try {
    make_directories(root);
  } catch (const Error& problem) {
    throw Error(problem.what(), "set run.root to a folder that you can write to");
  }
  remove_unfinished(root);
  RunDir run(make_unfinished(root, root / base));
  try {
    make_directories(run.path_ / "logs");
    make_directories(run.checkpoints());
    fill(run);
    run.take_name(root, base, /*must_be_free=*/!name.empty());
  } catch (const fs::filesystem_error& error) {
    run.remove();
    throw Error(cat("cannot write the run ", (root / base).string(), ": ", error.code().message()),
                "free some space, or set run.root to another folder");
  } catch (...) {
    run.remove();
    throw;
  }
  return run;
}

void RunDir::take_name(const fs::path& root, const std::string& base, bool must_be_free) {
  fs::path wanted = root / base;
  for (int copy = 2; !rename_to(wanted); ++copy) {
    if (must_be_free) throw_taken(base, wanted);
    wanted = root / cat(base, "-", copy);
  }
  sync_directory(root);
}

bool RunDir::rename_to(const fs::path& to) {
  const bool locked = lock_ != nullptr;
  // rename() would replace an empty folder, but no run is an empty folder.
  while (rename(path_.c_str(), to.c_str()) != 0) {
    if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR) return false;
    // On Windows shares, a folder cannot be renamed while a file in it is open.
    const bool by_open_files = errno == EACCES || errno == EBUSY;
    if (!by_open_files || !lock_) throw_cannot_make(to, errno);
    lock_.reset();
  }
  path_ = to;
  if (locked) lock();
  return true;
}

void RunDir::remove() {
  lock_.reset();
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

RunDir RunDir::open(const std::string& run, const fs::path& root) {
  if (fault_of_name(run).empty() && is_run(root / run)) return RunDir(root / run);
  if (!run.empty() && is_run(run)) return RunDir(with_name(run));
  const std::string name = run.substr(0, run.find_last_not_of('/') + 1);  // accepts "first/"
  if (fault_of_name(name).empty() && is_run(root / name)) return RunDir(root / name);
  throw_no_run(run, root);
}

std::string RunDir::name() const { return path_.filename().string(); }
fs::path RunDir::checkpoints() const { return path_ / "checkpoints"; }
fs::path RunDir::events_path() const { return path_ / "events.jsonl"; }
fs::path RunDir::log_path(int rank) const { return path_ / "logs" / cat("rank", rank, ".log"); }

fs::path RunDir::make_logs() const {
  const Beneath run(path_);
  if (!run.make_folder("logs")) run.fail("create folder", "logs", errno);
  return path_ / "logs";
}

std::vector<RunDir> list_runs(const fs::path& root) {
  std::vector<std::pair<double, RunDir>> found;
  for (const std::string& name : names_of_runs(root)) {
    // The name is not checked, because the user may have renamed the folder.
    RunDir run(root / name);
    const double start = start_of(run);
    found.emplace_back(start, std::move(run));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second.name() > b.second.name();
  });
  std::vector<RunDir> runs;
  for (auto& [start, run] : found) runs.push_back(std::move(run));
  return runs;
}

}  // namespace lockstep
