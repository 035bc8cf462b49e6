// The world that torchrun, Slurm or mpirun made for this process, read from its environment.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace lockstep {

struct World {
  int rank = 0, local_rank = 0;  // among all ranks, and on this host
  int size = 1, local_size = 1;
  std::string master_addr;  // host of rank 0; 127.0.0.1 if all ranks are on one host
  int master_port = 0;      // 0: size is 1, any port will do
  std::string source;       // "torchrun", "Slurm", "Open MPI", "MPICH"
  // The door of the launcher's store (store_server.h); -1: the ranks meet at the address and port.
  int store_door = -1;
};

// Nothing if nobody made a world. Throws Error if the variables are incomplete, malformed or
// contradict each other. The variables are tried in this order, innermost launcher first:
//  - torchrun's RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT;
//  - Open MPI's OMPI_COMM_WORLD_…, and MPICH's PMI_RANK with MPI_LOCALRANKID: before Slurm, since
//    under mpirun in a Slurm job Slurm's variables are those of mpirun's daemons;
//  - Slurm's SLURM_PROCID, …, of a step that srun made (SLURM_STEP_ID; a batch script is no world),
//    or without that variable if there are several tasks and this is not a batch script;
//  - PMI_RANK, PMI_SIZE alone.
// MASTER_ADDR and MASTER_PORT, if set, take precedence over derived values. A derived port lies in
// 12000 to 31999. It is a function of what all ranks share (Slurm's job and step, the MPI job's
// name).
std::optional<World> world_from_environment(const std::function<const char*(const char*)>& getenv);

}  // namespace lockstep
