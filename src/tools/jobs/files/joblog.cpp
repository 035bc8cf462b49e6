#include "tools/jobs/files/joblog.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/files/write_all.h"
#include "core/base/text/text.h"
#include "tools/jobs/job_file/fill_attempt.h"
#include "tools/jobs/job_file/placeholders.h"

namespace lockstep {
namespace {

constexpr std::string_view header =
    "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";

// The command as it ran, on one line.
std::string command_of(const BatchFolder& batch, const RunningAttempt& running) {
  const Attempt& attempt = running.attempt;
  const Job job =
      fill_attempt(running.job, {.out = batch.attempt(attempt.id).string(),
                                 .slot = attempt.slot,
                                 .gpu = attempt.devices.empty() ? std::nullopt : std::optional(0),
                                 .attempt = attempt.number});
  std::vector<std::string> words;
  for (const std::string& word : job.command)
    words.push_back(job.shell ? word : quote_for_shell(word));
  std::string line;
  for (const char c : join(words, " "))
    line += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  return line;
}

std::string padded_seconds(double seconds) {
  const std::string text = fixed(seconds, 3);
  return std::string(10 - std::min<std::size_t>(text.size(), 10), ' ') + text;
}

}  // namespace

Joblog::Joblog(const std::filesystem::path& file) : path_(file) {
  file_ =
      UniqueFd(::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!file_) throw Error(cat("cannot write the job log ", file.string(), ": ", errno_text(errno)));
  std::string begin(header.size(), '\0');
  const ssize_t got = ::pread(file_.get(), begin.data(), begin.size(), 0);
  begin.resize(got < 0 ? 0 : static_cast<std::size_t>(got));  // -1 for a pipe
  if (!begin.empty() && begin != header)
    throw Error(cat(file.string(), " is there already, and is no job log"),
                "name another file with --joblog");
  if (begin.empty()) write(std::string(header));
}

void Joblog::write(const std::string& line) {
  if (!write_all(file_.get(), line))
    throw Error(cat("cannot write the job log ", path_.string(), ": ", errno_text(errno)));
}

void Joblog::add(const BatchFolder& batch, const RunningAttempt& running, const AttemptEnd& end) {
  std::error_code error;
  const auto printed =
      std::filesystem::file_size(batch.log(running.job.name, running.attempt.number), error);
  const bool timed_out = end.outcome == AttemptOutcome::timed_out;
  write(cat(running.attempt.job, "\t:\t", fixed(end.started, 3), "\t",
            padded_seconds(end.ended - end.started), "\t0\t", error ? 0 : printed, "\t",
            timed_out         ? -1
            : end.signal != 0 ? 0
                              : end.exit_code,
            "\t", end.signal, "\t", command_of(batch, running), "\n"));
}

}  // namespace lockstep
