// Assigns cores and devices to jobs, and says whether one more job fits. It is pure arithmetic.
#pragma once

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/jobs/ledger/ledger.h"

namespace lockstep {

struct BatchResources {
  std::vector<int> cores;  // numbers of the cores that the batch may use
  int slots = 0;  // limit for concurrent jobs; 0: as many as the cores allow, at most four per core
  std::vector<std::string> devices;  // UUIDs of GPUs
  // for each device, the cores on its NUMA node; may have fewer entries
  std::vector<std::vector<int>> near;
};

struct Placement {
  // number of its slot, from 0; a job gets the lowest slot that no concurrent job has
  int slot = 0;
  std::vector<int> cores;      // cores to run on; if empty, any core
  std::vector<int> devices;    // indexes into BatchResources::devices
  double cpus = 0, share = 0;  // number of its cores, and its share of each of its devices
};

// The resources that a job lacks now.
struct Lacks {
  bool slots = false, cores = false, devices = false;
  bool any() const { return slots || cores || devices; }
};

class Resources {
 public:
  explicit Resources(BatchResources all);

  // Takes resources for the job, or returns nothing if some resources are lacking. Devices with the
  // largest free share come first, so jobs are spread evenly.
  std::optional<Placement> place(const QueuedJob& job);
  Lacks lacks(const QueuedJob& job) const;  // lacks nothing if place() would succeed
  // Takes the resources that an earlier scheduler assigned to a running job. Cores and devices that
  // no longer exist are skipped. If the slot is not free, the next free one is taken.
  Placement take(const QueuedJob& job, int slot, const std::vector<int>& cores,
                 const std::vector<std::string>& devices);
  void release(const Placement& placement);
  // changes the job's share of each of its devices
  void reshare(Placement& placement, double share);
  // Why the job can never run with these resources, for people. Returns "" if the job can run with
  // them.
  std::string never(const QueuedJob& job) const;
  // After this call, no further job gets the device. Running jobs continue.
  void set_aside(int device);
  // Marks a device that others use. It gets no job until none_busy() is called.
  void set_busy(int device) { busy_.insert(device); }
  void none_busy() { busy_.clear(); }
  const std::set<int>& busy() const { return busy_; }
  void set_slots(int slots);
  void limit_slots(int most) { most_slots_ = most; }  // a limit that set_slots() cannot exceed

  const BatchResources& all() const { return all_; }
  int slots() const;
  double free_share(int device) const { return free_share_[static_cast<std::size_t>(device)]; }

 private:
  // whether jobs get cores of their own; false if there are more slots than cores
  bool pins() const;
  std::vector<int> choose_devices(const GpuRequest& gpus) const;
  std::vector<int> choose_cores(std::size_t count, const std::vector<int>& devices) const;

  BatchResources all_;
  int most_slots_ = std::numeric_limits<int>::max();
  double free_cpus_;
  std::set<int> free_cores_, used_slots_;
  std::vector<double> free_share_;  // per device, 0 to 1
  std::vector<bool> aside_;
  std::set<int> busy_;
};

}  // namespace lockstep
