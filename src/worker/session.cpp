// Opens a session. The device comes first, because LibTorch remembers for the rest of the process
// whether it saw a GPU.
#include "worker/session.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/say.h"
#include "core/base/text/text.h"
#include "core/devices/gpus/gpu_probe.h"
#include "core/devices/gpus/visible_gpus.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/world/store_client.h"
#include "training/checkpoint/snapshot.h"
#include "training/recipe/plugin.h"
#include "training/step/library_modes.h"
#include "worker/tool.h"

#include <ATen/Parallel.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

namespace lockstep {
namespace {

// The value of an option of `lockstep train`, or "" if it is not given.
std::string value_of(const std::vector<std::string>& arguments, const std::string& flag) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with(flag + "=")) return arguments[i].substr(flag.size() + 1);
    if (arguments[i] == flag && i + 1 < arguments.size()) return arguments[i + 1];
  }
  return "";
}

// Loads the plugin that the record names. The user must have named it on this command line, or the
// tool must vouch for it. A record alone is not trusted, because anybody may have written it.
void load_plugin_of(const nlohmann::json& record) {
  const std::string plugin = record.value("plugin", "");
  if (plugin.empty() || is_loaded(plugin)) return;
  const char* const trusted = std::getenv("LOCKSTEP_PLUGIN");
  if (trusted == nullptr || trusted != plugin)
    throw Error(
        cat("the run's record names the plugin ", plugin, ", which the command line does not"),
        cat("if you trust it: --plugin ", shell_word(plugin)));
  load_plugin(plugin);
}

void use_record(Session& session, const nlohmann::json& record) {
  load_plugin_of(record);
  if (session.backend->device().is_cuda()) load_plugin_kernels();
  session.setup = setup_from_json(record);
  set_library_modes(*session.setup.train);
  const Plan& plan = session.setup.plan;
  if (plan.batch.world_size != session.world.size)
    throw Error(cat("the run was planned for ", plan.batch.world_size, " ranks, but there are ",
                    session.world.size));
  const Device& device = plan.devices.at(static_cast<std::size_t>(session.world.rank));
  // On CPUs, the number of threads per operation decides how its sums are rounded.
  if (device.kind == DeviceKind::cpu)
    at::set_num_threads(session.setup.train->exact ? 1 : std::max(device.threads, 1));
  session.recipe =
      find_recipe_factory(session.setup.recipe)(*session.setup.options, session.setup.prepared);
}

// Makes one GPU visible to this rank. It is the GPU of the local rank, unless the launcher has
// already left only one. Returns nothing if there is no GPU.
std::optional<Device> claim_gpu(const World& world, GpuProbe& probe) {
  const std::vector<GpuInfo> gpus = visible_gpus(probe.gpus(), std::getenv("CUDA_VISIBLE_DEVICES"));
  if (gpus.empty()) return std::nullopt;
  if (gpus.size() > 1 && static_cast<std::size_t>(world.local_rank) >= gpus.size())
    throw Error(cat("local rank ", world.local_rank, " has no GPU: only ", gpus.size(), " visible"),
                "start at most one rank per GPU");
  const std::size_t own = gpus.size() == 1 ? 0 : static_cast<std::size_t>(world.local_rank);
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  setenv("CUDA_VISIBLE_DEVICES", gpus[own].uuid.c_str(), 1);
  return select_devices(gpus[own].uuid, probe, host_info(), nullptr, 0).at(0);
}

Device own_device(const std::vector<std::string>& arguments, const World& world) {
  const auto probe = make_nvml_probe();
  std::optional<Device> device;
  if (!value_of(arguments, "--devices").starts_with("cpu")) device = claim_gpu(world, *probe);
  if (device) {
    device->threads = std::max(1, device->threads / world.local_size);
    return *device;
  }
  HostInfo host = host_info();
  host.rank_threads = 0;  // torchrun sets OMP_NUM_THREADS=1 if the user has not set it
  return select_devices(cat("cpu:", world.local_size), *probe, host, nullptr, 0)
      .at(static_cast<std::size_t>(world.local_rank));
}

// Ends this process because of another rank. `run` is null until a run exists.
[[noreturn]] void end_broken(int rank, const RunDir* run, const Verdict& verdict) {
  say_error(verdict.what, verdict.hint);
  if (rank == 0) {
    // The store is in this process. The other ranks need it to reach the same verdict.
    constexpr double others_s = 2, writing_s = 5;
    system_clock().sleep_s(others_s);
    wait_for_checkpoints(writing_s);
    if (run != nullptr) run->try_write_state(RunState::failed, verdict.what);
  }
  _exit(exit_failed);
}

}  // namespace

World own_world() {
  const auto found = world_from_environment([](const char* name) { return std::getenv(name); });
  World world = found ? *found : World{.rank = 0, .local_rank = 0, .size = 1, .local_size = 1};
  world.store_door = take_store_door();
  return world;
}

TrainerSetup Session::trainer(bool resume) {
  return {.options = *setup.train,
          .plan = setup.plan,
          .recipe = *recipe,
          .group = *group,
          .backend = *backend,
          .run = *run,
          .clock = system_clock(),
          .resume = resume,
          .start_up = start_up,
          .init = setup.init,
          // The repository's tests check its own recipes.
          .check_contract = setup.train->check.contract && !setup.plugin.empty(),
          .weights = weights,
          .expected = expected_times_from_json(setup.times)};
}

Session open_session(const std::filesystem::path& run, const std::string& record_file,
                     const World& world, const RankLimits& limits) {
  Session session{.world = world};
  session.run = RunDir::open(std::filesystem::absolute(run).string(), "");
  const nlohmann::json record =
      record_file.empty() ? session.run->record() : nlohmann::json::parse(read_file(record_file));
  const nlohmann::json& devices = record.at("plan").at("devices");
  const bool cuda = devices.at(0).at("device").get<std::string>().starts_with("cuda");
  session.backend = cuda ? &cuda_backend() : &cpu_backend();
  use_record(session, record);
  session.group = std::make_unique<ProcessGroup>(world, *session.backend, limits);
  return session;
}

void open_foreign_session(const std::vector<std::string>& arguments, Session& session) {
  const World& world = session.world;
  session.foreign = true;
  const Device device = own_device(arguments, world);
  session.backend = device.kind == DeviceKind::cuda ? &cuda_backend() : &cpu_backend();
  session.group = std::make_unique<ProcessGroup>(
      world, *session.backend, RankLimits{},
      [rank = world.rank](const Verdict& verdict) { end_broken(rank, nullptr, verdict); });
  const std::vector<std::string> devices = session.group->collect("device", to_json(device).dump());
  // Rank 0 answers "run PATH", "done PATH" for a finished run, or "error WHAT" to end all ranks.
  std::string answer;
  UniqueFd lock;
  if (world.rank == 0) {
    try {
      SetUpRun made = set_up_with_tool(arguments, devices);
      answer = (made.lock ? "run " : "done ") + made.path;
      lock = std::move(made.lock);
    } catch (const Error& error) {
      answer = cat("error ", error.what());
    }
  }
  answer = session.group->share("run", answer);
  if (answer.starts_with("error ")) {
    session.group->shutdown();
    throw Error(answer.substr(6));
  }
  session.finished = answer.starts_with("done ");
  if (!session.finished && !answer.starts_with("run "))
    throw CollectiveFailed(cat("rank 0 names no run, but \"", printable(answer.substr(0, 80)),
                               "\": another program may have written to the ranks' store"));
  session.run = RunDir::open(answer.substr(session.finished ? 5 : 4), "");
  if (session.finished) return;
  if (world.rank == 0) session.run->adopt_lock(std::move(lock));
  if (const std::string plugin = value_of(arguments, "--plugin"); !plugin.empty())
    setenv("LOCKSTEP_PLUGIN", std::filesystem::absolute(plugin).lexically_normal().c_str(), 1);
  use_record(session, session.run->record());
  PeerWatch* const peers = session.group->peers();
  if (peers == nullptr) return;
  const auto run = std::make_shared<RunDir>(RunDir::open(session.run->path().string(), ""));
  peers->follow(
      session.setup.train->stop.hang_after.seconds,
      [rank = world.rank, run](const Verdict& verdict) { end_broken(rank, run.get(), verdict); });
}

}  // namespace lockstep
