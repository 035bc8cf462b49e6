// Rules about GPUs that a program could use but does not.
#include <algorithm>
#include <array>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "tools/doctor/rules/rules.h"

namespace lockstep::rules {
namespace {

constexpr std::size_t most_told = 4;  // most processes of a program that are listed as evidence

// The scheduler that gave a process its GPUs, if there is one.
struct Allotment {
  std::string by, variable;
  std::optional<int> gpus;  // number of GPUs on this machine, if the scheduler reports it
};

std::optional<int> number_in(const std::optional<std::string>& text) {
  return text ? whole_number<int>(*text) : std::nullopt;
}

std::optional<Allotment> allotment_of(const ProcessView& process) {
  constexpr std::array<std::pair<const char*, const char*>, 3> schedulers{
      {{"Slurm", "SLURM_JOB_ID"}, {"PBS", "PBS_JOBID"}, {"LSF", "LSB_JOBID"}}};
  for (const auto& [name, variable] : schedulers) {
    if (!process.inherited(variable)) continue;
    Allotment allotment{.by = name, .variable = variable};
    allotment.gpus = number_in(process.inherited("SLURM_GPUS_ON_NODE"));
    for (const char* list : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"})
      if (const auto gpus = process.inherited(list); gpus && !allotment.gpus)
        allotment.gpus = static_cast<int>(split(*gpus, ',').size());
    return allotment;
  }
  return std::nullopt;
}

// The number of ranks on this machine, from the process's own environment. Nothing if no variable
// gives it.
std::optional<int> local_world_size(const ProcessView& process) {
  for (const char* name : {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (const auto size = number_in(process.variable(name))) return size;
  return std::nullopt;
}

using OfProgram = std::optional<std::pair<int, Launcher>>;

// Whether some ranks have no CUDA context yet, or no longer have one.
bool is_incomplete(const Scene& scene, const Program& program, const OfProgram& launcher) {
  const ProcessView& first = scene.processes.at(program.users.front());
  std::optional<int> wanted = local_world_size(first);
  const bool tells = launcher && !launcher->second.name.empty() && !launcher->second.spans_hosts;
  if (!wanted && tells) wanted = launcher->second.gpus;
  const std::size_t there = std::max(program.users.size(), used_by(scene, program).size());
  return wanted && *wanted > static_cast<int>(there);
}

// Whether the process is a job of `lockstep batch` without a GPU. The job asked for none, or none
// was free.
bool is_job_on_cpus(const ProcessView& process) {
  return process.inherited("LOCKSTEP_DEVICE").value_or("") == "cpu";
}

// Whether Lockstep was told to compute on CPUs. If so, it masks the GPUs of its ranks or its job
// itself.
bool puts_on_cpus(const Scene& scene, const std::pair<int, Launcher>& launcher) {
  const ProcessView& process = scene.processes.at(launcher.first);
  return launcher.second.name == "Lockstep" &&
         (!process.inherited("CUDA_VISIBLE_DEVICES") || is_job_on_cpus(process));
}

// The suggested command, such as "--nproc-per-node=2 instead of --nproc-per-node=1: torchrun
// --nproc-per-node=2 train.py".
std::string rewritten(const Launcher& launcher, std::size_t gpus) {
  const std::string change =
      launcher.lists_gpus ? "without " + launcher.given
                          : cat(launcher.option_for(gpus),
                                launcher.given.empty() ? "" : " instead of ", launcher.given);
  return cat(change, ": ", launcher.command_for(gpus));
}

// Advice that gives the process the idle GPUs that its mask hides.
std::string unmasked(const Scene& scene, int pid, const OfProgram& launcher,
                     const std::set<std::size_t>& visible, const std::set<std::size_t>& idle) {
  // A launcher that gives each of its processes a GPU sets the mask itself.
  const bool by_launcher = launcher && !launcher->second.option.empty() && !visible.empty() &&
                           launcher->first != pid &&
                           !scene.processes.at(launcher->first).inherited("CUDA_VISIBLE_DEVICES");
  if (by_launcher) return rewritten(launcher->second, visible.size() + idle.size());
  if (is_job_on_cpus(scene.processes.at(pid)))
    return "it is a job of a batch that was given no GPU: with lockstep batch run --gpus 1 -- …, "
           "or gpus = 1 in the job file, it waits for one";
  return "if the mask is not meant: start it without CUDA_VISIBLE_DEVICES, or with all of its "
         "GPUs; the value is read once, when CUDA starts";
}

// The GPUs that a program may use, and the GPUs that it uses.
struct Use {
  std::set<std::size_t> visible, working, spare;
  bool computes = false;     // the program does not only hold memory
  bool with_others = false;  // other programs run on some of them
  bool unlike = false;       // spare GPUs are of another model than working ones
};

std::optional<Use> use_of(const Scene& scene, const Program& program) {
  const std::optional<std::set<std::size_t>> visible = visible_to(scene, program);
  if (!visible || visible->size() < 2) return std::nullopt;
  const std::set<std::size_t> used = used_by(scene, program);
  // Processes that share one GPU are reported by other rules.
  if (program.users.size() > 1 && used.size() < 2) return std::nullopt;
  Use use{.visible = *visible, .working = used};
  const std::set<std::size_t> idle = idle_of(scene, *visible, program.pids);
  // A single process may hold memory on all GPUs and compute on some, as TensorFlow does. If there
  // are several processes, a GPU whose rank pauses is still in use.
  if (program.users.size() == 1 && used.size() > 1 && !without(used, idle).empty())
    use.working = without(used, idle);
  use.spare = without(idle, use.working);
  if (use.spare.empty()) return std::nullopt;
  for (const int pid : program.users)
    for (const auto& [position, bytes] : scene.processes.at(pid).memory)
      use.computes = use.computes || computes_on(scene, program, pid, position);
  for (const std::size_t position : *visible)
    use.with_others =
        use.with_others || (!use.working.contains(position) && scene.is_shared(position, program));
  const std::vector<GpuInfo>& gpus = scene.evidence->gpus;
  for (const std::size_t position : use.spare)
    use.unlike = use.unlike || gpus[position].name != gpus[*use.working.begin()].name;
  return use;
}

// The command line that uses all GPUs. If there is none, advice on how to write the program.
std::vector<std::string> use_all(const Scene& scene, const Program& program,
                                 const OfProgram& launcher, const Use& use) {
  const std::size_t gpus = use.working.size() + use.spare.size();
  const std::size_t ranks = program.users.size();
  std::vector<std::string> next;
  if (ranks >= gpus)
    next.push_back(
        cat(ranks, " processes share ", use.working.size(),
            " GPUs: torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"])) gives each its own"));
  else if (launcher && !launcher->second.option.empty())
    next.push_back(rewritten(launcher->second, gpus));
  if (launcher && !launcher->second.note.empty()) next.push_back(launcher->second.note);
  if (next.empty()) next = one_process_a_gpu(scene, program.users.front(), gpus);
  if (!use.with_others) return next;
  std::set<std::size_t> free = use.spare;
  free.insert(use.working.begin(), use.working.end());
  std::vector<std::string> numbers;
  for (const int index : indexes(scene, free)) numbers.push_back(cat(index));
  next.push_back(
      cat("leave out the GPUs of others: CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=",
          join(numbers, ",")));
  return next;
}

std::vector<std::string> evidence_of(const Scene& scene, const Program& program,
                                     const OfProgram& launcher, const Use& use) {
  std::vector<std::string> lines;
  for (const int pid : program.users)
    for (const auto& [position, bytes] : scene.processes.at(pid).memory)
      if (lines.size() < most_told) lines.push_back(context_line(scene, pid, position));
  if (launcher) lines.push_back(command_line(scene, launcher->first));
  const int first = program.users.front();
  lines.push_back(variable_line(scene, first, "CUDA_VISIBLE_DEVICES"));
  for (std::string line : {variables_line(scene, first,
                                          {"WORLD_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
                                           "OMPI_COMM_WORLD_LOCAL_SIZE"}),
                           variables_line(scene, first,
                                          {"SLURM_JOB_ID", "SLURM_GPUS_ON_NODE", "SLURM_STEP_GPUS",
                                           "PBS_JOBID", "LSB_JOBID"})})
    if (!line.empty()) lines.push_back(std::move(line));
  for (const std::set<std::size_t>& positions : {use.working, use.spare})
    for (const std::size_t position : positions) lines.push_back(load_line(scene, position));
  return lines;
}

std::vector<std::string> open_of(const Scene& scene, const Program& program,
                                 const OfProgram& launcher, const Use& use) {
  const ProcessView& first = scene.processes.at(program.users.front());
  std::vector<std::string> open;
  if (!use.computes)
    open.push_back(launcher && launcher->second.serves
                       ? "whether it only waits for requests: look again while it serves some"
                       : "whether it only pauses or waits: look again while it works");
  if (const auto allotment = allotment_of(first))
    open.push_back(cat("what ", allotment->by, " gave it (", allotment->variable, "=",
                       *first.inherited(allotment->variable),
                       "): its job may have asked for fewer GPUs than it sees"));
  const std::optional<int> world = number_in(first.variable("WORLD_SIZE"));
  if (world && *world > local_world_size(first).value_or(*world))
    open.push_back(
        cat("whether its ranks on other machines, ", *world, " in all, are to become more too"));
  if (use.with_others)
    open.push_back("whether what idles is left to others, who use GPUs of this machine too");
  if (use.unlike)
    open.push_back(cat("whether unlike GPUs are of use to it: ", names(scene, use.spare), " of ",
                       scene.evidence->gpus[*use.spare.begin()].name, " beside ",
                       scene.evidence->gpus[*use.working.begin()].name));
  open.push_back(
      cat("only you know whether the program is meant to use ",
          use.working.size() == 1 ? "one GPU" : cat(use.working.size(), " GPUs"),
          "; a program that hides the others from itself (os.environ, Ray) looks the same"));
  return open;
}

}  // namespace

Findings one_of_several(const Scene& scene) {
  Findings findings;
  for (const Program& program : scene.programs) {
    if (program.users.empty() || is_stopped(scene, program)) continue;
    const OfProgram launcher = launcher_in(scene, program);
    const std::optional<Use> use = use_of(scene, program);
    if (!use || is_incomplete(scene, program, launcher)) continue;
    const auto allotment = allotment_of(scene.processes.at(program.users.front()));
    if (allotment && allotment->gpus && *allotment->gpus <= static_cast<int>(use->working.size()))
      continue;
    const std::string amount =
        use->working.size() == 1 ? "one"
                                 : cat(use->working.size(), " (", names(scene, use->working), ")");
    const int whom = launcher ? launcher->first : program.users.front();
    const bool sure = use->computes && !use->with_others && !use->unlike;
    findings.push_back(
        {.verdict = cat(describe(scene, whom), " may use ", use->visible.size(), " GPUs and ",
                        use->computes ? cat("computes on ", amount)
                                      : cat("is on ", amount, ", not seen to compute"),
                        "; ", idling(scene, use->spare)),
         .confidence = sure ? Confidence::likely : Confidence::possible,
         .evidence = evidence_of(scene, program, launcher, *use),
         .next = use_all(scene, program, launcher, *use),
         .open = open_of(scene, program, launcher, *use),
         .gpus = indexes(scene, use->spare),
         .pids = program.users});
  }
  return findings;
}

Findings narrowed(const Scene& scene) {
  constexpr double working_cores = 0.5;
  Findings findings;
  for (const Program& program : scene.programs) {
    const std::optional<std::set<std::size_t>> visible = visible_to(scene, program);
    if (!visible || is_stopped(scene, program)) continue;
    const std::set<std::size_t> hidden = without(all_of(scene), *visible);
    const std::set<std::size_t> idle = idle_of(scene, hidden, {});
    std::vector<int> masked;  // processes whose mask limits what they use, or could limit it
    double cores = 0;
    bool is_elsewhere = false;  // the program chose other GPUs than the mask
    for (const int pid : program.users.empty() ? program.pids : program.users) {
      const ProcessView& process = scene.processes.at(pid);
      is_elsewhere = is_elsewhere || (process.allowed && !process.visible);
      if (!process.computes() || !process.inherited("CUDA_VISIBLE_DEVICES")) continue;
      if (allotment_of(process)) continue;  // the scheduler sets this mask
      masked.push_back(pid);
      cores += process.cores;
    }
    if (idle.empty() || masked.empty() || is_elsewhere) continue;
    // A helper process that is kept away from GPUs on purpose does not compute.
    if (visible->empty() && cores < working_cores) continue;
    const OfProgram launcher = launcher_in(scene, program);
    if (visible->empty() && launcher && puts_on_cpus(scene, *launcher)) continue;
    const bool job_on_cpus = is_job_on_cpus(scene.processes.at(masked.front()));
    // If the machine has other users, they may have agreed on the mask.
    const bool with_others = std::any_of(hidden.begin(), hidden.end(), [&](std::size_t position) {
      return scene.is_shared(position, program);
    });
    Finding finding{.confidence = with_others ? Confidence::possible : Confidence::likely,
                    .gpus = indexes(scene, idle),
                    .pids = program.pids};
    const std::string who = masked.size() == 1
                                ? describe(scene, masked.front())
                                : cat("the processes of ", describe(scene, program.root));
    finding.verdict = visible->empty()
                          ? cat("CUDA_VISIBLE_DEVICES hides every GPU from ", who)
                          : cat("CUDA_VISIBLE_DEVICES leaves ", who, " ", names(scene, *visible),
                                " only; ", idling(scene, idle));
    for (std::size_t i = 0; i < std::min(masked.size(), most_told); ++i)
      finding.evidence.push_back(variable_line(scene, masked[i], "CUDA_VISIBLE_DEVICES"));
    if (launcher) finding.evidence.push_back(command_line(scene, launcher->first));
    for (const std::size_t position : idle) finding.evidence.push_back(load_line(scene, position));
    finding.next = {unmasked(scene, masked.front(), launcher, *visible, idle)};
    if (job_on_cpus) {
      finding.confidence = Confidence::possible;
      finding.evidence.push_back(variable_line(scene, masked.front(), "LOCKSTEP_DEVICE"));
    }
    finding.open = {
        "whether the mask is wanted: a scheduler, a shell profile or a person may have set it"};
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace lockstep::rules
