// Reads from the environment which rank this process is, if torchrun, Slurm, mpirun or `lockstep`
// started it. The world is the group of all ranks.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace lockstep {

struct World {
  int rank = 0, local_rank = 0;  // rank among all ranks, and among those on this host
  int size = 1, local_size = 1;
  std::string master_addr;  // the host of rank 0; 127.0.0.1 if all ranks are on one host
  int master_port = 0;      // 0 = the size is 1, so any port can be used
  std::string source;       // "torchrun", "Slurm", "Open MPI", "MPICH"
  // The socket of the launcher's store (StoreServer::door). -1 = the ranks meet at master_addr and
  // master_port.
  int store_door = -1;
};

// Returns nothing if no launcher started this process. Throws Error if the variables are incomplete
// or malformed, or contradict each other. The variables of several launchers may be set. They are
// tried in this order, beginning with the innermost launcher:
//  - torchrun's RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT.
//  - Open MPI's OMPI_COMM_WORLD_…, then MPICH's PMI_RANK with MPI_LOCALRANKID. Both come before
//    Slurm, because under mpirun in a Slurm job, Slurm's variables describe the daemons of mpirun.
//  - Slurm's SLURM_PROCID and others, if srun started this process in a job step (SLURM_STEP_ID). A
//    batch script itself is not a rank. Without SLURM_STEP_ID, there must be several tasks, and
//    this must not be a batch script.
//  - PMI_RANK and PMI_SIZE alone.
// If MASTER_ADDR and MASTER_PORT are set, they are used for every launcher. Otherwise, address and
// port are derived. A derived port is in [12000, 31999]. It is computed from text that all ranks
// share: Slurm's job and step, or the name of the MPI job. Without such text, MPI ranks use port
// 29500.
std::optional<World> world_from_environment(const std::function<const char*(const char*)>& getenv);

}  // namespace lockstep
