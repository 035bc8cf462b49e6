// Implements `lockstep monitor`. It shows the activity of every GPU live on a terminal, or as a
// table, CSV or JSON.
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/devices/gpus/cuda_driver.h"
#include "core/devices/gpus/visible_gpus.h"
#include "runtime/launch/launch.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/monitor/monitor_live.h"
#include "tools/cli/monitor/monitor_record.h"
#include "tools/cli/monitor/monitor_serve.h"
#include "tools/cli/monitor/sampling.h"
#include "tools/cli/output.h"
#include "tools/doctor/evidence/look.h"
#include "tools/doctor/live_doctor.h"
#include "tools/monitor/own_runs.h"
#include "tools/monitor/replay.h"
#include "tools/monitor/sample_text.h"
#include "tools/monitor/summary.h"
#include "tools/monitor/watched_command.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace lockstep::cli {
namespace {

constexpr double least_interval_s = 0.1;
constexpr double look_up_s = 0.1;  // interval of checks for an interrupt

// Positions in `gpus` of the GPUs that `list` names by NVML index or UUID. An empty list means all.
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
      const std::optional<int> index = whole_number<int>(word);
      for (std::size_t i = 0; i < gpus.size(); ++i)
        if (index && gpus[i].index == *index) at = static_cast<int>(i);
    }
    if (at < 0)
      throw Error(cat("--devices: there is no GPU \"", word, "\""),
                  cat("there are ", list_gpus(gpus), "; indexes are those of nvidia-smi"));
    if (std::find(positions.begin(), positions.end(), at) != positions.end())
      throw Error(cat("--devices names GPU ", gpus[static_cast<std::size_t>(at)].index, " twice"));
    positions.push_back(static_cast<std::size_t>(at));
  }
  return positions;
}

enum class Format { table, csv, json, none };

struct MonitorRequest {
  Format format = Format::table;
  std::string path = "-";
  bool once = false, live = false;
  double interval_s = 1, duration_s = 0;  // duration_s: 0 = until stopped
  std::optional<pid_t> pid;
  std::optional<ListenAddress> serve;
  std::string record, replay;  // paths of files; "" = none
  bool overwrite = false;
  double speed = 1;  // speed of a replay
  std::vector<std::string> command;
};

bool keeps_on_standard_output(const MonitorRequest& wanted) {
  return (wanted.format == Format::csv && names_standard_output(wanted.path)) ||
         (!wanted.record.empty() && names_standard_output(wanted.record));
}

// Whether samples of a whole period are written to a CSV file. If so, nothing is shown meanwhile.
bool keeps_csv(const MonitorRequest& wanted) {
  return wanted.format == Format::csv && !wanted.once && !names_standard_output(wanted.path);
}

// Whether the word after --serve is an address. If not, it is the first word of the program.
bool looks_like_address(const std::string& word) {
  return !word.starts_with('-') &&
         (word.starts_with("localhost") || word.find(':') != word.npos ||
          (!word.empty() && word.find_first_not_of("0123456789.") == word.npos));
}

double speed_of(const Parsed& parsed) {
  if (!parsed.has("--speed")) return 1;
  if (!parsed.has("--replay")) throw Error("--speed is for --replay", "leave it out");
  const std::string text = parsed.value("--speed");
  double speed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
  if (error != std::errc() || end != text.data() + text.size() || !(speed > 0 && speed <= 1e6))
    throw Error(cat("--speed must be a number above 0, but is \"", text, "\""),
                "--speed 10 is ten times as fast");
  return speed;
}

// Throws Error if a replay is combined with a measurement.
void check_replay(const Parsed& parsed) {
  for (const char* flag : {"--once", "--interval", "--pid", "--record", "--serve"})
    if (parsed.has(flag))
      throw Error(cat("--replay does not go with ", flag), "leave out one of them");
  if (!parsed.program.empty()) throw Error("--replay does not go with a command", "leave it out");
}

MonitorRequest wanted_of(const Parsed& parsed) {
  MonitorRequest wanted{.once = parsed.has("--once")};
  if (parsed.has("--json") && parsed.has("--csv"))
    throw Error("--json and --csv exclude each other", "start one lockstep monitor for each");
  if (parsed.has("--table") && (parsed.has("--json") || parsed.has("--csv")))
    throw Error("--table does not go with --json or --csv", "leave it out");
  if (parsed.has("--json")) wanted.format = Format::json;
  if (parsed.has("--csv")) {
    wanted.format = Format::csv;
    wanted.path = parsed.value("--csv");
  }
  wanted.interval_s = duration_of(parsed, "--interval", 1, least_interval_s);
  wanted.duration_s = duration_of(parsed, "--duration", 0, least_interval_s);
  if (parsed.has("--pid")) wanted.pid = pid_of(parsed.value("--pid"), "--pid");
  if (parsed.has("--serve")) {
    if (wanted.once || parsed.has("--table"))
      throw Error("--serve does not go with --once or --table", "leave out one of them");
    wanted.serve = parse_listen_address(parsed.value("--serve"));
    if (wanted.format == Format::table) wanted.format = Format::none;
  }
  wanted.record = parsed.value("--record");
  wanted.replay = parsed.value("--replay");
  wanted.overwrite = may_overwrite(parsed);
  wanted.speed = speed_of(parsed);
  if (!wanted.record.empty() && names_standard_output(wanted.record)) {
    if (wanted.format == Format::json ||
        (wanted.format == Format::csv && names_standard_output(wanted.path)))
      throw Error("standard output cannot hold both the samples and the recording",
                  "name a file for one of them");
    if (wanted.format == Format::table) wanted.format = Format::none;
  }
  if (parsed.has("--replay")) check_replay(parsed);
  wanted.command = parsed.program;
  if (wanted.command.size() == 1 &&
      wanted.command[0].find_first_not_of("0123456789") == std::string::npos)
    throw Error(cat("lockstep monitor takes a program, but was given ", wanted.command[0]),
                cat("a process that runs is watched with --pid ", wanted.command[0]));
  if (!wanted.command.empty()) {
    if (wanted.once || wanted.pid || wanted.duration_s > 0)
      throw Error("--once, --pid and --duration do not go with a command",
                  "a command is watched from its start to its end");
    if (wanted.format == Format::json || keeps_on_standard_output(wanted))
      throw Error("standard output is the command's",
                  "keep the samples in a file, with --csv or --record");
    if (wanted.format == Format::table) wanted.format = Format::none;
  }
  wanted.live =
      wanted.format == Format::table && !wanted.once && !parsed.has("--table") && on_a_terminal();
  if (wanted.once && wanted.duration_s > 0)
    throw Error("--once and --duration exclude each other", "leave out one of them");
  return wanted;
}

std::string formatted(Format format, const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                      const FindProcess& find) {
  switch (format) {
    case Format::json:
      return json_text(sample_json(gpus, sample, find), -1) + "\n";
    case Format::csv:
    case Format::none:
      return "";
    case Format::table:
      return sample_table(gpus, sample, find) + "\n";
  }
  return "";
}

// Warns if the driver hangs, once for each call that hangs.
void tell_of_hang(double hanging_s, bool& told) {
  if (hanging_s < driver_patience_s) told = false;
  if (hanging_s < driver_patience_s || told) return;
  told = true;
  say_that_it_waits(hanging_s);
}

// Keeps only processes of the tree. Keeps all processes if there is no tree.
MonitorSample followed(const MonitorSample& sample, const std::optional<std::set<int>>& tree) {
  MonitorSample own = sample;
  if (!tree) return own;
  for (GpuSample& gpu : own.gpus)
    std::erase_if(gpu.processes, [&](const GpuProcess& one) { return !tree->contains(one.pid); });
  return own;
}

// The source of samples, and a function that looks up their processes.
struct Source {
  SampleSource& samples;
  FindProcess find;
  LiveDoctor* doctor = nullptr;  // null for a recording
  bool is_recording() const { return doctor == nullptr; }
};

// The subject that is watched: the machine, a process, or a command. Watching ends when the subject
// ends, even before the time is over.
class Subject {
 public:
  explicit Subject(const MonitorRequest& wanted) : pid_(wanted.pid) {
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
  // Whether to continue after an interrupt until the command ends by itself. An interrupt from the
  // terminal has reached the command too. A SIGTERM reaches only this process, so it is passed on
  // once.
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

// CSV shows no processes, so none are looked up for it.
std::string shown_sample(Format format, const std::vector<GpuInfo>& gpus,
                         const MonitorSample& sample, const Subject& subject,
                         const FindProcess& find) {
  if (format == Format::csv) return csv_lines(gpus, sample);
  return formatted(format, gpus, followed(sample, subject.tree()), find);
}

// Ends on an interrupt, at the end of the watched process, or at the end of the time.
bool is_over(Subject& subject, const NotedInterrupts& interrupts, double left_s) {
  if (subject.ended() || left_s <= 0) return true;
  return interrupts.came() && !subject.outlives(interrupts.newest());
}

// Whether a sample has all values. Rates and utilisations need two samples with some time between
// them. A value that is missing after several samples stays missing.
bool is_whole(const MonitorSample& sample) {
  constexpr long long enough = 5;
  return sample.number >= enough ||
         std::all_of(sample.gpus.begin(), sample.gpus.end(), [](const GpuSample& gpu) {
           return std::none_of(
               gpu.readings.begin(), gpu.readings.end(),
               [](const Reading& reading) { return reading.state == ReadingState::no_sample; });
         });
}

// Returns false and says why if the terminal cannot show the live view.
bool shown_live(const MonitorRequest& wanted, const std::vector<GpuInfo>& gpus,
                const Source& source, const NotedInterrupts& interrupts, double end_s,
                Subject& subject) {
  constexpr int page_width = 78;
  LiveWatch live{.view = {.find = source.find,
                          .interval_s = wanted.interval_s,
                          .recording = source.is_recording() ? wanted.replay : "",
                          .patience_s = driver_patience_s},
                 .end_s = end_s,
                 .ended = [&] { return subject.ended() || source.samples.ended(); },
                 .prepared =
                     [&](const MonitorSample& sample) {
                       if (source.doctor) source.doctor->add(sample);
                       return followed(sample, subject.tree());
                     }};
  if (source.doctor) live.view.more = [&](int pid) { return source.doctor->text(pid, page_width); };
  std::string why;
  if (watch_live(gpus, source.samples, interrupts, std::move(live), why)) return true;
  say(cat("no live view: ", why, "; --table shows this table without this line"));
  return false;
}

int watch(const MonitorRequest& wanted, const std::vector<GpuInfo>& gpus, const Source& source) {
  std::optional<ServedMonitor> served;
  if (wanted.serve) served.emplace(*wanted.serve, gpus, wanted.interval_s, source.samples);
  Output output(wanted.path, wanted.overwrite);
  signal(SIGPIPE, SIG_IGN);
  const NotedInterrupts interrupts;
  Clock& clock = system_clock();
  const double end = wanted.duration_s > 0 ? clock.now_s() + wanted.duration_s : INFINITY;
  Subject subject(wanted);
  if (wanted.live && shown_live(wanted, gpus, source, interrupts, end, subject))
    return exit_finished;
  MonitorSummary summary(gpus);
  Written written = wanted.format == Format::csv ? output.write(csv_head()) : Written::yes;
  // A command continues even if its samples cannot be recorded.
  const auto goes_on = [&] {
    return (written == Written::yes && !source.samples.ended()) || subject.is_command();
  };
  bool told = false;
  for (long long seen = 0; goes_on();) {
    // The first sample may take the driver longer than the whole requested time.
    const bool waits = summary.empty() && !wanted.once && !source.is_recording();
    const double left = std::max(
        end - clock.now_s(), waits ? driver_patience_s - source.samples.hanging_s() : -INFINITY);
    if (is_over(subject, interrupts, left)) break;
    const auto sample = source.samples.next(seen, std::min(left, look_up_s));
    if (!sample) {
      const double hanging = source.samples.hanging_s();
      tell_of_hang(hanging, told);
      if (wanted.once && hanging > driver_patience_s) return exit_failed;
      continue;
    }
    seen = sample->number;
    if (served) served->take(followed(*sample, subject.tree()));
    if (wanted.once && !is_whole(*sample)) continue;
    summary.add(*sample);
    if (wanted.format != Format::none && written == Written::yes)
      written = output.write(shown_sample(wanted.format, gpus, *sample, subject, source.find));
    if (wanted.once) break;
  }
  if (subject.is_command() || (keeps_csv(wanted) && !summary.empty())) say(summary.text());
  if (summary.empty() && clock.now_s() >= end && !source.is_recording() && !subject.is_command()) {
    say(cat("error: no sample: ", no_answer));
    return exit_failed;
  }
  return written == Written::failed && !subject.is_command() ? int{exit_failed} : subject.code();
}

int replay(const MonitorRequest& wanted, const std::string& devices) {
  Recording recording(wanted.replay);
  const std::vector<std::size_t> positions = positions_of(devices, recording.gpus());
  std::vector<GpuInfo> gpus;
  for (const std::size_t position : positions) gpus.push_back(recording.gpus()[position]);
  Replay samples(recording, positions, wanted.speed);
  return watch(wanted, gpus, {samples, [&](int pid) { return recording.process(pid); }});
}

// Uses its own instance of NVML, so that no other code shuts it down meanwhile.
Evidence machine_of(const std::vector<GpuInfo>& gpus) {
  const std::unique_ptr<GpuProbe> own = make_nvml_probe();
  return evidence_of(*own, host_info(), gpus, {.ask_cuda = cuda_device_uuids});
}

int watch_and_record(const MonitorRequest& wanted, const std::vector<GpuInfo>& gpus,
                     Sampler& sampler, LiveDoctor& doctor) {
  if (wanted.record.empty()) return watch(wanted, gpus, {sampler, find_processes(), &doctor});
  RecordedSource recorded(sampler, gpus, wanted.record, wanted.overwrite);
  const int code = watch(wanted, gpus, {recorded, find_processes(), &doctor});
  return recorded.failed() && wanted.command.empty() ? int{exit_failed} : code;
}

int monitor_main(const Parsed& parsed) {
  const MonitorRequest wanted = wanted_of(parsed);
  if (!wanted.replay.empty()) return replay(wanted, parsed.value("--devices"));
  // The masks are removed before any thread exists. The live doctor asks CUDA for its order of all
  // GPUs.
  if (wanted.live)
    for (const char* mask : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}) unsetenv(mask);
  const std::shared_ptr<GpuReader> reader =
      answer_in_time([] { return std::shared_ptr<GpuReader>(make_nvml_reader()); }, exit_failed);
  check_gpus(*reader, "watch");
  const std::vector<std::size_t> positions =
      positions_of(parsed.value("--devices"), reader->gpus());
  std::vector<GpuInfo> gpus;
  for (const std::size_t position : positions) gpus.push_back(reader->gpus()[position]);
  Sampler sampler(reader, positions, wanted.once ? least_interval_s + 0.01 : wanted.interval_s);
  LiveDoctor doctor([gpus] { return machine_of(gpus); });
  const int code =
      with_sampler(sampler, [&] { return watch_and_record(wanted, gpus, sampler, doctor); });
  if (doctor.is_asking()) _exit(code);  // the library cannot shut down while its thread uses it
  return code;
}

}  // namespace

Command monitor_command() {
  return {
      .name = "monitor",
      .operands = "[flags] [PROGRAM [ARGUMENT …]]",
      .summary = "what every GPU does: activity, memory, power, traffic, processes",
      .details =
          "SM, tensor and DRAM activity need a Hopper GPU or newer; \"busy\" only says that some "
          "kernel ran.\n"
          "\"n/a\": the GPU does not support this value; \"-\": it gave none this time.\n"
          "On a terminal: a live view; ? shows its keys. Else a table per sample.\n"
          "With a program: runs it, reports at its end what the GPUs did meanwhile, and exits with "
          "its exit code.\n"
          "Flags before PROGRAM are those below; all words after it are its own. A -- before "
          "PROGRAM may be left out.",
      .flags = {{"--once", "", "one sample, then end"},
                {"--table", "", "a table per sample on a terminal too, no live view"},
                {"--interval", "TIME", "between samples, at least 0.1s (default 1s)"},
                {"--duration", "TIME", "end after this time (default: when stopped)"},
                {"--devices", "LIST", "GPUs by nvidia-smi's index or UUID (default all)",
                 "devices"},
                {"--csv", "FILE", "as CSV; - is standard output", "file"},
                {"--json", "", "as JSON, a line per sample"},
                {"--pid", "PID", "show only this process and its children; end when it ends"},
                {"--record", "FILE", "keep all samples for --replay; - is standard output", "file"},
                overwrite_flag(),
                {"--replay", "FILE", "show the samples of a --record instead of this machine",
                 "file"},
                {"--speed", "NUMBER", "speed of a replay: 10 is ten times as fast (default 1)"},
                {.name = "--serve",
                 .value = "ADDRESS",
                 .meaning = "a page with charts, and /metrics for Prometheus (127.0.0.1:9400)",
                 .is_value = looks_like_address}},
      .takes_program = true,
      .complete = "program",
      .run = monitor_main,
      .tried_flags = {{"--output", "write --csv FILE, or --record FILE to look at it again"},
                      {"-o", "write --csv FILE, or --record FILE to look at it again"},
                      {"--query-gpu", "leave it out: --csv FILE and --json have all values"},
                      {"--format", "write --csv FILE, or --json"},
                      {"--loop", "write --interval TIME"},
                      {"-l", "write --interval TIME"},
                      {"-i", "write --devices LIST"}}};
}

}  // namespace lockstep::cli
