// Assigns cores and devices to jobs, and tells whether one more job fits. Arithmetic only.
#pragma once

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/jobs/ledger/ledger.h"

namespace lockstep {

struct BatchResources {
  std::vector<int> cores;              // numbers of cores that the batch may use
  int slots = 0;                       // the most concurrent jobs; 0: as many as the cores allow
  std::vector<std::string> devices;    // UUIDs of GPUs
  std::vector<std::vector<int>> near;  // by device, cores on its NUMA node; may be shorter
};

struct Placement {
  int slot = 0;                // from 0: the lowest free one
  std::vector<int> cores;      // cores to run on; empty: any
  std::vector<int> devices;    // indexes into BatchResources::devices
  double cpus = 0, share = 0;  // the cores it has, and the part of each of its devices
};

// Why a job does not fit now.
struct Lacks {
  bool slots = false, cores = false, devices = false;
  bool any() const { return slots || cores || devices; }
};

class Resources {
 public:
  explicit Resources(BatchResources all);

  // Takes resources for the job, or returns nothing. Jobs are spread evenly: the device with most
  // capacity left comes first.
  std::optional<Placement> place(const QueuedJob& job);
  Lacks lacks(const QueuedJob& job) const;  // nothing if `place` would place it
  // Takes resources as an earlier scheduler assigned them; missing cores and devices are skipped.
  Placement take(const QueuedJob& job, int slot, const std::vector<int>& cores,
                 const std::vector<std::string>& devices);
  void release(const Placement& placement);
  void reshare(Placement& placement, double share);  // changes its share of each of its devices
  // Why the job can never run with these resources, for people; "" if it can.
  std::string never(const QueuedJob& job) const;
  // No further job gets this device; running jobs continue.
  void set_aside(int device);
  // A device in use by others gets no job until `none_busy`.
  void set_busy(int device) { busy_.insert(device); }
  void none_busy() { busy_.clear(); }
  const std::set<int>& busy() const { return busy_; }
  void set_slots(int slots);
  void limit_slots(int most) { most_slots_ = most; }  // overrides any request

  const BatchResources& all() const { return all_; }
  int slots() const;
  double free_share(int device) const { return free_share_[static_cast<std::size_t>(device)]; }

 private:
  bool pins() const;  // cores are assigned individually
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
