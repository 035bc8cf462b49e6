// lockstep monitor: what every GPU does, as a table, CSV or JSON.
#include "base/error.h"
#include "base/fd.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "cli/interrupts.h"
#include "config/options.h"
#include "devices/visible_gpus.h"
#include "launch/launch.h"
#include "monitor/sample_text.h"
#include "monitor/summary.h"
#include "monitor/watched_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

namespace lockstep::cli {
namespace {

constexpr double least_interval_s = 0.1;
constexpr double look_up_s = 0.1;  // for an interrupt
constexpr double patience_s = 5;   // with a driver that does not answer

// Of a flag; `otherwise` without it.
double duration_of(const Parsed& parsed, const std::string& flag, double otherwise, double least) {
  if (!parsed.has(flag)) return otherwise;
  const std::string text = parsed.value(flag);
  double seconds = -1;
  try {
    seconds = parse_duration(text).seconds;
  } catch (const Error& error) {
    throw Error(cat(flag, ": ", error.what()), error.hint());
  }
  if (seconds < least)
    throw Error(cat(flag, " must be at least ", general(least, 3), "s, but is ", text));
  return seconds;
}

// Positions in gpus of what `list` names by NVML index or UUID; "" is all of them.
std::vector<std::size_t> positions_of(const std::string& list, const std::vector<GpuInfo>& gpus) {
  std::vector<std::size_t> positions;
  if (list.empty()) {
    for (std::size_t i = 0; i < gpus.size(); ++i) positions.push_back(i);
    return positions;
  }
  for (const std::string& part : split(list, ',')) {
    const std::string word = trim(part);
    int at = -1;
    if (is_uuid(word)) {
      const std::vector<int> found = find_by_uuid(gpus, word);
      if (found.size() == 1) at = found[0];
    } else {
      int index = -1;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
      for (std::size_t i = 0; i < gpus.size(); ++i)
        if (error == std::errc() && end == word.data() + word.size() && gpus[i].index == index)
          at = static_cast<int>(i);
    }
    if (at < 0)
      throw Error(cat("--devices: there is no GPU \"", word, "\""),
                  cat("there are ", list_gpus(gpus), "; indexes are those of nvidia-smi"));
    positions.push_back(static_cast<std::size_t>(at));
  }
  return positions;
}

enum class Written { yes, unread, failed };

// Where the samples go. A reader that has seen enough ends the program without a word.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path) {
    if (path == "-") return;
    file_.reset(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (file_) return;
    if (errno == EEXIST)
      throw Error(cat(path, " is there already"), "name another file, or remove that one");
    throw Error(cat(path, ": ", errno_text(errno)));
  }
  // unread: nobody reads it any more. failed: says why.
  Written write(std::string_view text) {
    const int fd = file_ ? file_.get() : STDOUT_FILENO;
    while (!text.empty()) {
      const ssize_t written = ::write(fd, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0 && errno == EPIPE) return Written::unread;
      if (written < 0) {
        say(cat("error: ", path_ == "-" ? "standard output" : path_, ": ", errno_text(errno),
                "; what was written before is kept"));
        return Written::failed;
      }
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return Written::yes;
  }

 private:
  std::string path_;
  UniqueFd file_;
};

enum class Format { table, csv, json, none };

struct Wanted {
  Format format = Format::table;
  std::string path = "-";
  bool once = false;
  double interval_s = 1, duration_s = 0;  // 0: until it is stopped
  std::optional<pid_t> pid;
  std::vector<std::string> command;
};

pid_t pid_of(const std::string& text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0)
    throw Error(cat("--pid must be the number of a process, but is \"", text, "\""));
  if (!process_info(pid)) throw Error(cat("--pid: there is no process ", pid));
  return pid;
}

Wanted wanted_of(const Parsed& parsed) {
  Wanted wanted{.once = parsed.has("--once")};
  if (parsed.has("--json") && parsed.has("--csv"))
    throw Error("--json and --csv exclude each other", "start one lockstep monitor for each");
  if (parsed.has("--json")) wanted.format = Format::json;
  if (parsed.has("--csv")) {
    wanted.format = Format::csv;
    wanted.path = parsed.value("--csv");
  }
  wanted.interval_s = duration_of(parsed, "--interval", 1, least_interval_s);
  wanted.duration_s = duration_of(parsed, "--duration", 0, least_interval_s);
  if (parsed.has("--pid")) wanted.pid = pid_of(parsed.value("--pid"));
  wanted.command = parsed.rest;
  if (!wanted.command.empty()) {
    if (wanted.once || wanted.pid || wanted.duration_s > 0)
      throw Error("--once, --pid and --duration do not go with a command",
                  "a command is watched from its start to its end");
    if (wanted.format == Format::json || (wanted.format == Format::csv && wanted.path == "-"))
      throw Error("standard output is the command's", "keep the samples with --csv FILE");
    if (wanted.format == Format::table) wanted.format = Format::none;
  }
  if (wanted.once && wanted.duration_s > 0)
    throw Error("--once and --duration exclude each other", "leave out one of them");
  return wanted;
}

std::string formatted(Format format, const std::vector<GpuInfo>& gpus,
                      const MonitorSample& sample) {
  const FindProcess find = [](int pid) { return process_info(pid); };
  switch (format) {
    case Format::csv:
      return csv_lines(gpus, sample);
    case Format::json:
      return sample_json(gpus, sample, find)
                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
             "\n";
    case Format::none:
      return "";
    case Format::table:
      return printable(sample_table(gpus, sample, find), "\n") + "\n";
  }
  return "";
}

// The driver hangs: says so, once for each call.
void tell_of_hang(double hanging_s, bool& told) {
  if (hanging_s < patience_s) told = false;
  if (hanging_s < patience_s || told) return;
  told = true;
  say(cat("the NVIDIA driver has not answered for ", fixed(hanging_s, 0), " s; waiting"));
}

// Only the processes of the tree; all where there is none to follow.
MonitorSample followed(const MonitorSample& sample, const std::optional<std::set<int>>& tree) {
  MonitorSample own = sample;
  if (!tree) return own;
  for (GpuSample& gpu : own.gpus)
    std::erase_if(gpu.processes, [&](const GpuProcess& one) { return !tree->contains(one.pid); });
  return own;
}

// What is watched: the machine, a process, or a command. It ends before the time is over where it
// ends.
class Subject {
 public:
  explicit Subject(const Wanted& wanted) : pid_(wanted.pid) {
    if (!wanted.command.empty()) command_.emplace(wanted.command);
    if (command_) pid_ = command_->pid();
  }
  bool ended() {
    if (command_) return command_->ended().has_value();
    return pid_ && !process_info(*pid_);
  }
  std::optional<std::set<int>> tree() const {
    return pid_ ? std::optional(process_tree(*pid_)) : std::nullopt;
  }
  // On an interrupt: whether to go on until the command has ended by itself. One from the terminal
  // has reached it too; a SIGTERM is for this process alone and is passed on, once.
  bool outlives(int interrupt) {
    if (command_ && interrupt == SIGTERM && !told_) command_->send(SIGTERM);
    told_ = told_ || interrupt == SIGTERM;
    return command_.has_value();
  }
  int code() { return command_ ? command_->ended().value_or(exit_failed) : int{exit_finished}; }
  bool is_command() const { return command_.has_value(); }

 private:
  std::optional<pid_t> pid_;
  std::optional<WatchedCommand> command_;
  bool told_ = false;
};

// An interrupt, or the end of what is watched or of the time.
bool is_over(Subject& subject, const NotedInterrupts& interrupts, double left_s) {
  if (subject.ended() || left_s <= 0) return true;
  return interrupts.came() && !subject.outlives(interrupts.newest());
}

int watch(const Wanted& wanted, const std::vector<GpuInfo>& gpus, Sampler& sampler) {
  Output output(wanted.path);
  signal(SIGPIPE, SIG_IGN);
  const NotedInterrupts interrupts;
  Clock& clock = system_clock();
  const double end = wanted.duration_s > 0 ? clock.now_s() + wanted.duration_s : INFINITY;
  Subject subject(wanted);
  MonitorSummary summary(gpus);
  // Rates and activities take two samples: one alone shows them after the least time between two.
  const long long first = wanted.once ? 2 : 1;
  Written written = wanted.format == Format::csv ? output.write(csv_head()) : Written::yes;
  // A command goes on though its samples cannot be kept.
  const auto goes_on = [&] { return written == Written::yes || subject.is_command(); };
  bool told = false;
  for (long long seen = 0; goes_on();) {
    const double left = end - clock.now_s();
    if (is_over(subject, interrupts, left)) break;
    const auto sample = sampler.next(seen, std::min(left, look_up_s));
    if (!sample) {
      const double hanging = sampler.hanging_s();
      tell_of_hang(hanging, told);
      if (wanted.once && hanging > patience_s) return exit_failed;
      continue;
    }
    seen = sample->number;
    if (seen < first) continue;
    summary.add(*sample);
    if (wanted.format != Format::none && written == Written::yes)
      written = output.write(formatted(wanted.format, gpus, followed(*sample, subject.tree())));
    if (wanted.once) break;
  }
  if (subject.is_command()) say(printable(summary.text(), "\n"));
  return written == Written::failed && !subject.is_command() ? int{exit_failed} : subject.code();
}

int monitor_main(const Parsed& parsed) {
  const Wanted wanted = wanted_of(parsed);
  const std::shared_ptr<GpuReader> reader = make_nvml_reader();
  if (reader->gpus().empty()) {
    const std::string why = reader->why_absent();
    throw Error(
        cat("there is no GPU to watch: ", why.empty() ? "the NVIDIA driver shows none" : why),
        "see lockstep devices");
  }
  const std::vector<std::size_t> positions =
      positions_of(parsed.value("--devices"), reader->gpus());
  std::vector<GpuInfo> gpus;
  for (const std::size_t position : positions) gpus.push_back(reader->gpus()[position]);
  Sampler sampler(reader, positions, wanted.once ? least_interval_s + 0.01 : wanted.interval_s);
  int code = exit_failed;
  try {
    code = watch(wanted, gpus, sampler);
  } catch (...) {
    if (sampler.hanging_s() > look_up_s) sampler.abandon();
    throw;
  }
  if (sampler.hanging_s() > look_up_s) {
    sampler.abandon();
    _exit(code);  // the library cannot be shut down while it hangs
  }
  return code;
}

}  // namespace

Command monitor_command() {
  return {
      .name = "monitor",
      .operands = "[-- COMMAND …]",
      .summary = "what every GPU does: activity, memory, power, traffic, processes",
      .details =
          "SM, tensor and DRAM activity take a Hopper GPU or newer; \"busy\" only says that some "
          "kernel ran.\n\"n/a\" is what a GPU does not tell, \"-\" what it did not tell this "
          "time.\n"
          "With a command: runs it, and says at its end what the GPUs did meanwhile; exits as it "
          "did.",
      .flags = {{"--once", "", "one sample, then end"},
                {"--interval", "TIME", "between samples, at least 0.1s (default 1s)"},
                {"--duration", "TIME", "end after this time (default: when stopped)"},
                {"--devices", "LIST", "GPUs by nvidia-smi's index or UUID (default all)",
                 "devices"},
                {"--csv", "FILE", "as CSV to a new file, or - for standard output", "file"},
                {"--json", "", "as JSON, a line a sample"},
                {"--pid", "PID",
                 "of the processes only this one and its children; end when it ends"}},
      .takes_rest = true,
      .run = monitor_main};
}

}  // namespace lockstep::cli
