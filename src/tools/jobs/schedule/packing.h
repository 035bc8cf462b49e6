// Decides from measurements how many jobs of a kind share each device. It is pure arithmetic.
//
// A kind is all jobs that have the same command except for parameters. The first jobs of a kind run
// alone on their devices. Their peak memory decides how many jobs fit on a device. Their activity
// decides how many jobs are tried first. Then the number rises in steps, as long as a device
// completes clearly more jobs per second than with fewer jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep {

// The measurements of a successful attempt.
struct PackedAttempt {
  double duration_s = 0;
  double together = 1;  // mean number of jobs on its device while it ran, itself included
  int limit = 1;        // value of Packing::per_device() when it began
};

class Packing {
 public:
  static constexpr int most_per_device = 16;

  // device_bytes: memory of the smallest device. known_bytes: the memory per device that the job
  // states; 0 if the memory is to be measured.
  explicit Packing(std::int64_t device_bytes, std::int64_t known_bytes = 0);

  int per_device() const { return limit_; }
  bool measured() const { return peak_bytes_ > 0; }
  int fits() const;  // number of jobs that fit into a device's memory; 1 if the need is unknown
  std::int64_t peak_bytes() const { return peak_bytes_; }

  // Takes a job's peak memory on its device, and its activity there in percent while it was alone.
  // The first peak decides how many jobs are tried first. A higher peak later may lower the number
  // of jobs. Returns true if per_device() has changed; why() then gives the reason.
  bool saw(std::int64_t peak_bytes, std::optional<double> activity_percent);
  // Takes a successful attempt. Its duration may raise or lower the number of jobs. Returns true if
  // per_device() has changed.
  bool ended(const PackedAttempt& attempt);
  // Reports that a job that shared its device ran out of memory. Returns true if per_device() has
  // changed.
  bool out_of_memory();
  const std::string& why() const { return why_; }  // reason for the last change, for people

  std::string text() const;  // all measurements, to be stored in the ledger
  // Restores the measurements of an earlier scheduler from the result of text(). If the text is
  // unreadable, the kind is measured again.
  void restore(const std::string& text);

 private:
  bool set(int limit, std::string why);
  void next_level();

  std::int64_t device_bytes_, peak_bytes_ = 0;
  int limit_ = 1, best_ = 1;
  int most_;                // the largest number that may be tried
  bool settled_ = false;    // no larger number is tried any more
  double best_cost_s_ = 0;  // device time per job with `best_` jobs; 0 if unknown
  double cost_sum_s_ = 0;   // sum of the device times per job with `limit_` jobs
  int costs_ = 0;
  std::string why_;
};

// Decides whether jobs with gpus = auto run on the CPU or on GPUs. It chooses the side that
// completes more of these jobs in the same time.
class CpuOrGpu {
 public:
  enum class Choice { unknown, cpu, gpu };

  Choice choice() const { return choice_; }
  // A trial is the run of one job on the CPU or on a GPU. Returns whether a trial is still needed
  // on the side `where`. Returns false while a trial runs on this side, because one is enough.
  bool wants_trial(Choice where) const;
  void trial_begins(Choice where);
  // Reports the end of a trial. A failed trial shows that the job cannot run on this side. If the
  // trials of both sides fail, further jobs are tried. at_once: the number of jobs that the machine
  // can run on this side at once. Returns true once the choice is made; why() then gives the
  // reason.
  bool trial_ended(Choice where, bool succeeded, double duration_s, int at_once);
  void trial_stopped(Choice where) { of(where).runs = false; }  // the trial ended without a result
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
