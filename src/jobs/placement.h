// Which cores and devices jobs have, and whether one more fits. Arithmetic only.
#pragma once

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobs/ledger.h"

namespace lockstep {

struct BatchResources {
  std::vector<int> cores;              // numbers that the batch may use
  int slots = 0;                       // jobs at once at most; 0: as many as the cores allow
  std::vector<std::string> devices;    // UUIDs of GPUs
  std::vector<std::vector<int>> near;  // by device, cores on its NUMA node; may be shorter
};

struct Placement {
  int slot = 0;                // from 0: the lowest that is free
  std::vector<int> cores;      // to run on; empty: any
  std::vector<int> devices;    // places in BatchResources::devices
  double cpus = 0, share = 0;  // what it takes: of the cores, and of each of its devices
};

// Why a job does not fit now.
struct Lacks {
  bool slots = false, cores = false, devices = false;
  bool any() const { return slots || cores || devices; }
};

class Resources {
 public:
  explicit Resources(BatchResources all);

  // Takes what the job needs, or nothing. Jobs are spread evenly over devices: the one with most
  // left comes first.
  std::optional<Placement> place(const QueuedJob& job);
  Lacks lacks(const QueuedJob& job) const;  // nothing where `place` would place it
  // As it was given before, by another scheduler; cores and devices that are not there are passed
  // over.
  Placement take(const QueuedJob& job, int slot, const std::vector<int>& cores,
                 const std::vector<std::string>& devices);
  void release(const Placement& placement);
  void reshare(Placement& placement, double share);  // of each of its devices, from now on
  // Why the job can never run with these, for people; "" if it can.
  std::string never(const QueuedJob& job) const;
  // A device that no job gets from here on; what runs there goes on.
  void set_aside(int device);
  // One that others use now gets no job until `none_busy`.
  void set_busy(int device) { busy_.insert(device); }
  void none_busy() { busy_.clear(); }
  const std::set<int>& busy() const { return busy_; }
  void set_slots(int slots);
  void limit_slots(int most) { most_slots_ = most; }  // whatever is asked for

  const BatchResources& all() const { return all_; }
  int slots() const;
  double free_share(int device) const { return free_share_[static_cast<std::size_t>(device)]; }

 private:
  bool pins() const;  // cores are given out one by one
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
