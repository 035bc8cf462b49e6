// The world of this process: all ranks of a job that torchrun, Slurm or mpirun started. It is read
// from the environment.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace lockstep {

struct World {
  int rank = 0, local_rank = 0;  // rank among all ranks, and among those on this host
  int size = 1, local_size = 1;
  std::string master_addr;  // the host of rank 0; 127.0.0.1 if all ranks are on one host
  int master_port = 0;      // 0 = size is 1, and any port will do
  std::string source;       // "torchrun", "Slurm", "Open MPI", "MPICH"
  // The socket of the launcher's store (StoreServer::door). -1 = the ranks meet at the address and
  // port.
  int store_door = -1;
};

// Returns nothing if no launcher started this process. Throws Error if the variables are
// incomplete, malformed or contradict each other. The variables are tried in this order, innermost
// launcher first:
//  - torchrun's RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT.
//  - Open MPI's OMPI_COMM_WORLD_…, then MPICH's PMI_RANK with MPI_LOCALRANKID. Both come before
//    Slurm, because under mpirun in a Slurm job, Slurm's variables describe the daemons of mpirun.
//  - Slurm's SLURM_PROCID, … of a step that srun started (SLURM_STEP_ID). A batch script is not a
//    world. Without SLURM_STEP_ID, there must be several tasks, and this must not be a batch
//    script.
//  - PMI_RANK and PMI_SIZE alone.
// If MASTER_ADDR and MASTER_PORT are set, they override derived values. A derived port is in
// [12000, 31999]. It is a function of text that all ranks share: Slurm's job and step, or the MPI
// job's name. Without such text, an MPI world uses 29500.
std::optional<World> world_from_environment(const std::function<const char*(const char*)>& getenv);

}  // namespace lockstep
