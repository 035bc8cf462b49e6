// Decides by measurements how many jobs of a kind share each device. Arithmetic only.
//
// A kind is all jobs that have the same command except for parameters. The first jobs of a kind run
// alone on their devices. Their peak memory decides how many fit, and their activity how many are
// tried first. Then the number rises by steps as long as a device completes more jobs with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep {

// A successful attempt.
struct PackedAttempt {
  double duration_s = 0;
  double together = 1;  // mean number of jobs of its kind on its device meanwhile, itself included
  int limit = 1;        // Packing::per_device() when it began
};

class Packing {
 public:
  static constexpr int most_per_device = 16;

  // device_bytes: memory of the smallest device. known_bytes: the need on its device that the job
  // states; 0: it is measured.
  explicit Packing(std::int64_t device_bytes, std::int64_t known_bytes = 0);

  int per_device() const { return limit_; }
  bool measured() const { return peak_bytes_ > 0; }
  int fits() const;  // jobs that fit into a device's memory; 1 if it was not measured
  std::int64_t peak_bytes() const { return peak_bytes_; }

  // Takes a job's peak on its device, and the activity in percent that the job caused there while
  // it was alone. A higher peak than known lowers the number that fits. Returns true if
  // per_device() has changed; `why` then explains it.
  bool saw(std::int64_t peak_bytes, std::optional<double> activity_percent);
  bool ended(const PackedAttempt& attempt);  // the same
  // Says that a job that shared its device ran out of memory.
  bool out_of_memory();
  const std::string& why() const { return why_; }  // of the last change, for people

  std::string text() const;               // for the ledger
  void restore(const std::string& text);  // from an earlier start; an unreadable text means
                                          // measuring again

 private:
  bool set(int limit, std::string why);
  void next_level();

  std::int64_t device_bytes_, peak_bytes_ = 0;
  int limit_ = 1, best_ = 1;
  int most_;                // the most to try
  bool settled_ = false;    // nothing more is tried
  double best_cost_s_ = 0;  // device time per job at `best_`; 0: unknown
  double cost_sum_s_ = 0;   // the same, summed at `limit_`
  int costs_ = 0;
  std::string why_;
};

// Decides where jobs with gpus = auto run: on the CPU or on GPUs, whichever completes more of them.
class CpuOrGpu {
 public:
  enum class Choice { unknown, cpu, gpu };

  Choice choice() const { return choice_; }
  // Whether a trial is still needed there. Only one trial runs there at a time.
  bool wants_trial(Choice where) const;
  void trial_begins(Choice where);
  // A failed trial shows that the job cannot run there. If a job fails on both, other jobs are
  // tried. at_once: the number of jobs that the machine can run there at once. Returns true once
  // the choice is made; `why` then explains it.
  bool trial_ended(Choice where, bool succeeded, double duration_s, int at_once);
  void trial_stopped(Choice where) { of(where).runs = false; }  // without a result
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
