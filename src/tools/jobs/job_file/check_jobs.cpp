#include "tools/jobs/job_file/check_jobs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/jobs/job_file/placeholders.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  struct stat state {};
  return ::stat(path.c_str(), &state) == 0 && S_ISREG(state.st_mode);
}

bool can_run(const fs::path& path) { return is_file(path) && ::access(path.c_str(), X_OK) == 0; }

// The job's PATH, or else that of this process. If neither is set, the default path of execvp.
std::string search_path(const Job& job) {
  for (const auto& [name, value] : job.environment)
    if (name == "PATH") return fill_attempt(value, {});
  const char* const own = std::getenv("PATH");
  return own ? own : "/bin:/usr/bin";
}

std::vector<std::string> programs_in(const std::string& search) {
  std::vector<std::string> names;
  for (const std::string& folder : split(search, ':')) {
    std::error_code error;
    for (fs::directory_iterator file(folder, error), end; !error && file != end;
         file.increment(error))
      names.push_back(file->path().filename().string());
  }
  return names;
}

[[noreturn]] void fail_program(const Job& job, const std::string& program,
                               const std::string& search) {
  const std::string what = cat("the command ", program, " of the job ", job.name, " is not there");
  if (program.find(' ') != program.npos)
    throw Error(what, "a line with spaces needs shell = true (--shell), or a list of words");
  if (is_file(fs::path(fill_attempt(job.folder, {})) / program))
    throw Error(what, cat("a file of the working folder is called ./", program));
  const std::string near = nearest(program, programs_in(search));
  throw Error(
      what, near.empty() ? cat("it was looked for in ", search) : cat("did you mean ", near, "?"));
}

void check_file(const Job& job, const std::string& program, const fs::path& path) {
  if (can_run(path)) return;
  if (!is_file(path))
    throw Error(cat("the command ", program, " of the job ", job.name, " is not there"),
                cat("it was looked for as ", path.string()));
  throw Error(cat("the command ", program, " of the job ", job.name, " cannot be run"),
              program.ends_with(".py")
                  ? "write python3 before it, or run chmod +x on it"
                  : cat("chmod +x ", shell_word(path.string()), " makes it a program"));
}

void check_program(const Job& job, const std::string& folder) {
  const std::string program = fill_attempt(job.command[0], {});
  if (program.find('/') != program.npos)
    return check_file(job, program, fs::path(folder) / program);
  const std::string search = search_path(job);
  for (const std::string& place : split(search, ':'))
    if (can_run(fs::path(folder) / place / program)) return;
  fail_program(job, program, search);
}

void check_folder(const Job& job, const std::string& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return;
  const bool is_there = fs::exists(folder, error);
  throw Error(cat("the working folder ", folder, " of the job ", job.name,
                  is_there ? " is not a folder" : " is not there"),
              is_there ? "" : "make it first, or set cwd to another; {out} is the job's own");
}

// Checks jobs. Jobs with the same folder, program and PATH are checked once.
class Checks {
 public:
  void check(const Job& job) {
    if (needs_attempt(job.folder)) return;
    const std::string folder = fill_attempt(job.folder, {});
    if (folders_.insert(folder).second) check_folder(job, folder);
    if (job.shell || needs_attempt(job.command[0])) return;
    if (programs_.insert({folder, job.command[0], search_path(job)}).second)
      check_program(job, folder);
  }

 private:
  std::unordered_set<std::string> folders_;
  std::set<std::vector<std::string>> programs_;  // folder, program, PATH
};

}  // namespace

void check_jobs(const JobList& list) {
  Checks checks;
  for (const Job& job : list.jobs) checks.check(job);
}

void check_jobs(const JobSource& source) {
  Checks checks;
  source.each([&](const Job& job) { checks.check(job); });
}

}  // namespace lockstep
