#include "runtime/launch/world/world.h"

#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/launch/world/hostlist.h"
#include "runtime/launch/world/world_variables.h"

namespace lockstep {
namespace {

constexpr const char* loopback = "127.0.0.1";
// The port that torch uses, if ranks share no value from which to derive one.
constexpr int usual_port = 29500;

std::optional<World> from_torchrun(const WorldVariables& variables) {
  if (!variables.has("RANK") && !variables.has("WORLD_SIZE")) return std::nullopt;
  World world{.source = "torchrun"};
  world.size = variables.required("WORLD_SIZE", "RANK");
  world.rank = variables.required("RANK", "WORLD_SIZE");
  if (world.size > 1) {
    world.local_rank = variables.required("LOCAL_RANK", "RANK");
    world.local_size = variables.required("LOCAL_WORLD_SIZE", "RANK");
    if (!variables.has("MASTER_ADDR")) {
      throw Error("MASTER_ADDR must be set, since RANK is",
                  "set MASTER_ADDR to the host of rank 0, or start the ranks with torchrun");
    }
    world.master_port = variables.required("MASTER_PORT", "RANK");
  } else {
    world.local_rank = variables.number("LOCAL_RANK").value_or(0);
    world.local_size = variables.number("LOCAL_WORLD_SIZE").value_or(1);
  }
  return world;
}

// Returns 192.168.1.7 for "1234.0;tcp://192.168.1.7,10.0.0.7:4000". Skips loopback addresses.
std::optional<std::string> address_in_uri(const std::string& uri) {
  const std::size_t scheme = uri.find("://");
  if (scheme == uri.npos) return std::nullopt;
  const std::string rest = uri.substr(scheme + 3);
  for (const std::string& part : split(rest.substr(0, rest.find(';')), ',')) {
    const std::string host = part.substr(0, part.find(':'));
    const bool plain = !host.empty() && host.find_first_of("[]") == host.npos;
    if (plain && !host.starts_with("127.")) return host;
  }
  return std::nullopt;
}

// Returns node07, the host of mpirun, for "prterun-node07-4711@0.0;tcp4://…" (Open MPI 5).
std::optional<std::string> host_in_namespace(const std::string& text) {
  const std::string name = text.substr(0, text.find('@'));
  const std::size_t first = name.find('-'), last = name.rfind('-');
  if (!name.starts_with("prte") || first == last || last == name.npos) return std::nullopt;
  const std::string process = name.substr(last + 1);
  const bool number = !process.empty() && std::all_of(process.begin(), process.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c));
  });
  if (!number) return std::nullopt;
  return name.substr(first + 1, last - first - 1);
}

std::optional<World> from_open_mpi(const WorldVariables& variables) {
  const char* rank = "OMPI_COMM_WORLD_RANK";
  if (!variables.has(rank)) return std::nullopt;
  World world{.source = "Open MPI"};
  world.rank = variables.required(rank, rank);
  world.size = variables.required("OMPI_COMM_WORLD_SIZE", rank);
  world.local_rank = variables.required("OMPI_COMM_WORLD_LOCAL_RANK", rank);
  world.local_size = variables.required("OMPI_COMM_WORLD_LOCAL_SIZE", rank);

  const auto old_uri = variables.text("OMPI_MCA_orte_hnp_uri");
  auto name_space =
      variables.first_of({"PMIX_NAMESPACE", "PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
                          "PMIX_SERVER_URI3", "PMIX_SERVER_URI21", "PMIX_SERVER_URI2"});
  if (old_uri) world.master_addr = address_in_uri(*old_uri).value_or("");
  if (name_space) {
    if (world.master_addr.empty()) world.master_addr = host_in_namespace(*name_space).value_or("");
    name_space = name_space->substr(0, name_space->find('@'));
  }
  // The first of these that exists has the same value on all ranks.
  const auto shared = old_uri ? old_uri
                      : variables.has("OMPI_MCA_ess_base_jobid")
                          ? variables.text("OMPI_MCA_ess_base_jobid")
                          : name_space;
  world.master_port = shared ? derived_port(*shared) : usual_port;
  return world;
}

std::optional<World> from_mpich(const WorldVariables& variables) {
  if (!variables.has("PMI_RANK")) return std::nullopt;
  World world{.source = "MPICH"};
  world.rank = variables.required("PMI_RANK", "PMI_RANK");
  world.size = variables.required("PMI_SIZE", "PMI_RANK");
  if (world.size > 1 || variables.has("MPI_LOCALRANKID")) {
    world.local_rank = variables.required("MPI_LOCALRANKID", "PMI_RANK");
    world.local_size = variables.required("MPI_LOCALNRANKS", "PMI_RANK");
  }
  const auto shared = variables.first_of({"PMI_JOBID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"});
  world.master_port = shared ? derived_port(*shared) : usual_port;
  return world;
}

// Slurm gives the highest step numbers to batch scripts, interactive shells and other special
// steps.
bool special_step(const std::string& step) { return step.size() == 10 && step >= "4294967290"; }

bool step_made_this(const WorldVariables& variables) {
  if (!variables.has("SLURM_PROCID")) return false;
  if (const auto step = variables.first_of({"SLURM_STEP_ID", "SLURM_STEPID"})) {
    return !special_step(*step);
  }
  return variables.number("SLURM_NTASKS").value_or(1) > 1 &&
         variables.text("ENVIRONMENT") != "BATCH";
}

int slurm_local_size(const WorldVariables& variables, const World& world, std::size_t hosts) {
  if (hosts == 1) return world.size;
  const auto layout = variables.first_of({"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  const auto node = variables.number("SLURM_NODEID");
  if (layout && node) {
    const std::vector<int> tasks = expand_tasks_per_node(*layout);
    const auto index = static_cast<std::size_t>(*node);
    if (index < tasks.size()) return tasks[index];
    throw Error(cat("SLURM_NODEID is ", *node, ", but the tasks are on ", tasks.size(),
                    " nodes (\"", *layout, "\")"));
  }
  if (const auto each = variables.number("SLURM_NTASKS_PER_NODE")) return *each;
  const int nodes = static_cast<int>(hosts);
  if (world.size % nodes == 0) return world.size / nodes;
  throw Error(cat("cannot tell how many of ", world.size, " tasks run on this one of ", hosts,
                  " nodes: SLURM_NODEID and SLURM_TASKS_PER_NODE must be set"),
              "start the ranks with srun");
}

std::optional<World> from_slurm(const WorldVariables& variables) {
  if (!step_made_this(variables)) return std::nullopt;
  World world{.source = "Slurm"};
  world.rank = variables.required("SLURM_PROCID", "SLURM_PROCID");
  // The job may have more tasks than this step.
  const auto of_step = variables.number("SLURM_STEP_NUM_TASKS");
  world.size = of_step ? *of_step : variables.required("SLURM_NTASKS", "SLURM_PROCID");
  world.local_rank = variables.required("SLURM_LOCALID", "SLURM_PROCID");

  const auto list =
      variables.first_of({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  if (!list && world.size > 1) {
    throw Error("SLURM_STEP_NODELIST or SLURM_JOB_NODELIST must be set, since SLURM_PROCID is",
                "start the ranks with srun");
  }
  const std::vector<std::string> hosts =
      list ? expand_hostlist(*list) : std::vector<std::string>{"localhost"};
  world.local_size = slurm_local_size(variables, world, hosts.size());
  world.master_addr = hosts.size() == 1 ? loopback : hosts[0];

  if (const auto job = variables.first_of({"SLURM_JOB_ID", "SLURM_JOBID"})) {
    const auto step = variables.first_of({"SLURM_STEP_ID", "SLURM_STEPID"});
    world.master_port = derived_port(cat(*job, ".", step.value_or("0")));
  } else if (world.size > 1 && !variables.port()) {
    throw Error("MASTER_PORT cannot be derived, since SLURM_JOB_ID is not set",
                "set MASTER_PORT to a free port of the first node");
  }
  return world;
}

// Sets the address and port of rank 0. Values from the user or torchrun take precedence. A single
// host needs only the loopback address.
void settle_master(const WorldVariables& variables, World& world) {
  if (const auto address = variables.text("MASTER_ADDR")) {
    world.master_addr = *address;
  } else if (world.size == world.local_size) {
    world.master_addr = loopback;
  }
  if (world.master_addr.empty()) {
    throw Error(cat(world.source, " does not tell where rank 0 of ", world.size, " runs"),
                "set MASTER_ADDR to that host, the same for all ranks (mpirun -x MASTER_ADDR=…)");
  }
  if (const auto port = variables.port()) world.master_port = *port;
}

}  // namespace

std::optional<World> world_from_environment(const std::function<const char*(const char*)>& getenv) {
  const WorldVariables variables(getenv);
  const bool hydra = variables.has("PMI_RANK") && variables.has("MPI_LOCALRANKID");
  std::optional<World> world = from_torchrun(variables);
  if (!world) world = from_open_mpi(variables);
  if (!world && hydra) world = from_mpich(variables);
  if (!world) world = from_slurm(variables);
  if (!world) world = from_mpich(variables);
  if (!world) return std::nullopt;
  check_world(*world);
  settle_master(variables, *world);
  return world;
}

}  // namespace lockstep
