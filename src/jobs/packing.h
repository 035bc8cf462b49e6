// How many jobs of a kind share each device, from what was measured of them. Arithmetic only.
//
// A kind is all jobs with the same command but for their parameters. The first ones run alone on
// their devices; from their peak memory follows how many fit, from their activity how many are
// tried first. Then one step more is tried as long as a device gets more jobs done by it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep {

// Of an attempt that succeeded.
struct PackedAttempt {
  double duration_s = 0;
  double together = 1;  // mean number of jobs of its kind on its device meanwhile, itself too
  int limit = 1;        // Packing::per_device() when it began
};

class Packing {
 public:
  static constexpr int most_per_device = 16;

  // `device_bytes`: memory of the smallest device. `known_bytes`: what a job said that it needs on
  // its device; 0: it is to be measured.
  explicit Packing(std::int64_t device_bytes, std::int64_t known_bytes = 0);

  int per_device() const { return limit_; }
  bool measured() const { return peak_bytes_ > 0; }
  int fits() const;  // jobs that the memory of a device holds; 1 where it was not measured
  std::int64_t peak_bytes() const { return peak_bytes_; }

  // The peak of a job on its device, and the activity in percent that it alone gave the device. A
  // higher peak than was known lowers what fits. True: per_device() has changed, and `why` says so.
  bool saw(std::int64_t peak_bytes, std::optional<double> activity_percent);
  bool ended(const PackedAttempt& attempt);  // likewise
  // A job that shared its device had too little memory.
  bool out_of_memory();
  const std::string& why() const { return why_; }  // of the last change, for people

  std::string text() const;               // for the ledger
  void restore(const std::string& text);  // of an earlier start; what cannot be read is measured

 private:
  bool set(int limit, std::string why);
  void next_level();

  std::int64_t device_bytes_, peak_bytes_ = 0;
  int limit_ = 1, best_ = 1;
  int most_;                // tried at most
  bool settled_ = false;    // no more is tried
  double best_cost_s_ = 0;  // of a device per job, at `best_`; 0: unknown
  double cost_sum_s_ = 0;   // at `limit_`
  int costs_ = 0;
  std::string why_;
};

// Where jobs with gpus = auto run: on the CPU or on GPUs, whichever gets more of them done.
class CpuOrGpu {
 public:
  enum class Choice { unknown, cpu, gpu };

  Choice choice() const { return choice_; }
  // Whether one is still to be tried there, which it is once at a time.
  bool wants_trial(Choice where) const;
  void trial_begins(Choice where);
  // One that did not succeed there: it cannot run there. If it fails on both, others are tried.
  // `at_once`: jobs that the machine runs at once there. True: it is decided, and `why` says how.
  bool trial_ended(Choice where, bool succeeded, double duration_s, int at_once);
  void trial_stopped(Choice where) { of(where).runs = false; }  // it told nothing
  const std::string& why() const { return why_; }
  std::string text() const;
  void restore(const std::string& text);

 private:
  struct Trial {
    bool runs = false, over = false, works = false;
    double duration_s = 0;
    int at_once = 1;
  };
  Trial& of(Choice where) { return where == Choice::cpu ? cpu_ : gpu_; }
  const Trial& of(Choice where) const { return where == Choice::cpu ? cpu_ : gpu_; }
  void decide();

  Trial cpu_, gpu_;
  Choice choice_ = Choice::unknown;
  std::string why_;
};

}  // namespace lockstep
