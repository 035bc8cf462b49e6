// Implements `lockstep doctor`, which explains why a GPU is idle.
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/devices/gpus/cuda_driver.h"
#include "runtime/launch/launch.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_dir.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/monitor/sampling.h"
#include "tools/cli/output.h"
#include "tools/cli/run_root.h"
#include "tools/doctor/evidence/look.h"
#include "tools/doctor/report.h"
#include "tools/monitor/proc_file.h"

#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

namespace lockstep::cli {
namespace {

constexpr int exit_found = 1;

// The process that the operand names. The operand is a pid, or a run that the process trains.
std::optional<int> subject_of(const Parsed& parsed) {
  if (parsed.positionals.empty()) return std::nullopt;
  const std::string& word = parsed.positionals[0];
  if (parsed.has("--all")) throw Error("--all looks at every process; leave out the operand");
  if (word.find_first_not_of("0123456789") == word.npos) return pid_of(word, "PID");
  const RunDir run = operand_run(parsed);
  if (const std::optional<int> pid = run.holder()) return pid;
  throw Error(cat("no process of this machine trains run \"", run.name(), "\" now (",
                  to_string(run.state()), ")"),
              "lockstep runs shows what runs");
}

// UUIDs of all GPUs. The mask with which the doctor itself was started is ignored.
std::optional<std::vector<std::string>> all_cuda_uuids() {
  unsetenv("CUDA_VISIBLE_DEVICES");
  unsetenv("CUDA_DEVICE_ORDER");
  return cuda_device_uuids();
}

struct DiagnosisResult {
  int code = exit_finished;
  Written written = Written::yes;
};

// The form of the report, and the lowest confidence of the findings it shows.
struct Form {
  bool json = false;
  Confidence least = Confidence::possible;
};

Form form_of(const Parsed& parsed) {
  Form form{.json = parsed.has("--json")};
  if (!parsed.has("--least")) return form;
  const std::string word = parsed.value("--least");
  for (const Confidence one : {Confidence::possible, Confidence::likely, Confidence::certain}) {
    if (word != to_string(one)) continue;
    form.least = one;
    return form;
  }
  throw Error(cat("--least must be possible, likely or certain, but is \"", word, "\""),
              "--least likely leaves out what is only possible");
}

DiagnosisResult tell(const Evidence& evidence, const Form& form) {
  const Scene scene = make_scene(evidence);
  const Findings all = about(scene, diagnose(scene), evidence.subject);
  const Findings findings = at_least(all, form.least);
  nlohmann::json report = report_json(scene, findings);
  const std::size_t left_out = all.size() - findings.size();
  report["left_out"] = left_out;
  std::string text = form.json ? printable_json(to_line(report)) + "\n"
                               : report_text(scene, findings, text_width());
  if (!form.json && left_out > 0)
    text += cat("\n", left_out, left_out == 1 ? " finding is" : " findings are", " less than ",
                to_string(form.least), ", and left out\n");
  const Written written = Output("-").write(text);
  if (written == Written::failed) return {exit_usage, written};
  return {findings.empty() ? int{exit_finished} : exit_found, written};
}

bool has_ended(int pid) {
  const ProcStat stat = parse_proc_stat(read_proc_file(cat("/proc/", pid, "/stat")).text);
  return stat.fields.empty() || stat.fields[0] == "Z";
}

struct DoctorRequest {
  LookOptions look;
  Form form;
  bool watch = false;
  std::string record;  // "" = none
  bool overwrite = false;
};

int look_and_tell(const DoctorRequest& wanted, Evidence& evidence, Sampler& sampler) {
  std::optional<Output> record;
  if (!wanted.record.empty()) record.emplace(wanted.record, wanted.overwrite, 0600);
  const NotedInterrupts interrupts;
  for (int code = exit_interrupted;;) {
    if (!look(evidence, sampler, wanted.look, [&] { return interrupts.came(); }))
      throw Error(no_answer, why_no_answer);
    if (interrupts.came()) return code;
    if (wanted.look.subject && has_ended(*wanted.look.subject))
      throw Error(cat("process ", *wanted.look.subject, " ended while it was looked at"));
    const bool is_kept = !record || record->write(recording_of(evidence)) != Written::failed;
    const DiagnosisResult told = tell(evidence, wanted.form);
    code = is_kept ? told.code : int{exit_usage};
    if (!wanted.watch || told.written != Written::yes) return code;
  }
}

int doctor_main(const Parsed& parsed) {
  signal(SIGPIPE, SIG_IGN);
  const Form form = form_of(parsed);
  if (parsed.has("--replay")) {
    if (parsed.has("--record") || parsed.has("--watch") || !parsed.positionals.empty())
      throw Error("--replay goes with --json and --least only",
                  "a recording says itself what was looked at");
    return tell(read_evidence(parsed.value("--replay")), form).code;
  }
  if (parsed.has("--record") && parsed.has("--watch"))
    throw Error("--record and --watch exclude each other", "leave out one of them");
  const DoctorRequest wanted{.look = {.duration_s = duration_of(parsed, "--duration", 3, 1),
                                      .interval_s = duration_of(parsed, "--interval", 0.2, 0.1),
                                      .subject = subject_of(parsed),
                                      .ask_cuda = all_cuda_uuids},
                             .form = form,
                             .watch = parsed.has("--watch"),
                             .record = parsed.value("--record"),
                             .overwrite = may_overwrite(parsed)};
  constexpr int least_samples = 5;
  if (wanted.look.interval_s * (least_samples - 1) > wanted.look.duration_s)
    throw Error(cat("--interval ", wanted.look.interval_s, "s leaves less than ", least_samples,
                    " samples of --duration ", wanted.look.duration_s, "s"),
                "look for longer, or more often");
  auto [reader, evidence] = answer_in_time(
      [look = wanted.look] {
        std::shared_ptr<GpuReader> gpus = make_nvml_reader();
        Evidence seen;
        if (!gpus->gpus().empty()) seen = evidence_of(probe(), host_info(), gpus->gpus(), look);
        return std::pair(std::move(gpus), std::move(seen));
      },
      exit_usage);
  check_gpus(*reader, "look at");
  std::vector<std::size_t> positions(evidence.gpus.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  Sampler sampler(reader, positions, wanted.look.interval_s);
  return with_sampler(sampler,
                      [&, &seen = evidence] { return look_and_tell(wanted, seen, sampler); });
}

}  // namespace

Command doctor_command() {
  const std::string all_gpus =
      "leave it out: it looks at all GPUs; lockstep doctor PID, or RUN, looks at one program";
  return {.name = "doctor",
          .operands = "[PID | RUN] [run.root=DIR]",
          .summary = "why a GPU idles: what the processes that use it, or should, do wrong",
          .details =
              "Examines every process that uses a GPU or could use one, or one process with its "
              "children. It works for any program.\n"
              "RUN stands for the process that trains it: a folder, or a name in the folder of "
              "runs (run.root=DIR, by default runs).\n"
              "Exit code 0: nothing found; 1: findings; 2: it could not look.\n"
              "For scripts: with --least likely, findings that are only possible do not lead to "
              "exit code 1.",
          .flags = {{"--all", "", "every process (the default)"},
                    {"--duration", "TIME", "how long to look, at least 1s (default 3s)"},
                    {"--interval", "TIME", "between samples, at least 0.1s (default 0.2s)"},
                    {"--watch", "", "look again and again, until stopped"},
                    {"--least", "CONFIDENCE",
                     "report only findings that are at least this sure: possible (default), likely "
                     "or certain",
                     "word possible|likely|certain"},
                    {"--json", "", "as JSON, a line a look"},
                    {"--record", "FILE",
                     "record all observations, without secrets; - is standard output", "file"},
                    overwrite_flag(),
                    {"--replay", "FILE", "examine a --record instead of this machine", "file"}},
          .max_positionals = 1,
          .takes_assignments = true,
          .only_options = {"run.root"},
          .complete = "run",
          .run = doctor_main,
          .tried_flags = {{"--gpu", all_gpus},
                          {"--gpus", all_gpus},
                          {"--device", all_gpus},
                          {"--devices", all_gpus}}};
}

}  // namespace lockstep::cli
