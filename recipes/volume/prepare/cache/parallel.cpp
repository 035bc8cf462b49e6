// Threads that take pieces of work in order.
#include "recipes/volume/prepare/cache/parallel.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"

namespace lockstep::volume {
namespace {

class Pieces {
 public:
  Pieces(const ParallelWork& work, double most_bytes) : work_(work), most_bytes_(most_bytes) {}

  void work_on_them() {
    for (std::size_t piece; take(piece);) {
      double held = 0;
      std::exception_ptr error;
      try {
        if (work_.bytes) held = wait_for_memory(work_.bytes(piece));
        work_.run(piece);
      } catch (...) {
        error = std::current_exception();
      }
      give_back(piece, held, error);
    }
  }

  void watch() {
    std::unique_lock lock(mutex_);
    std::size_t told = 0;
    while (running_ > 0 || (next_ < work_.count && !error_)) {
      changed_.wait_for(lock, std::chrono::milliseconds(500));
      if (!work_.progress || done_ == told) continue;
      told = done_;
      lock.unlock();
      work_.progress(told);
      lock.lock();
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  bool take(std::size_t& piece) {
    const std::lock_guard lock(mutex_);
    if (next_ == work_.count || error_) return false;
    piece = next_++;
    ++running_;
    return true;
  }

  double wait_for_memory(double bytes) {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return used_ <= 0 || used_ + bytes <= most_bytes_; });
    used_ += bytes;
    return bytes;
  }

  void give_back(std::size_t piece, double held, const std::exception_ptr& error) {
    const std::lock_guard lock(mutex_);
    used_ -= held;
    --running_;
    if (error && piece < failed_) {
      failed_ = piece;
      error_ = error;
    }
    if (!error) ++done_;
    freed_.notify_all();
    changed_.notify_all();
  }

  const ParallelWork& work_;
  const double most_bytes_;
  std::mutex mutex_;
  std::condition_variable freed_, changed_;
  std::size_t next_ = 0, running_ = 0, done_ = 0, failed_ = static_cast<std::size_t>(-1);
  double used_ = 0;  // whole numbers, so that the sum returns to exactly 0
  std::exception_ptr error_;
};

}  // namespace

void run_parallel(const ParallelWork& work, std::size_t threads, double most_bytes) {
  if (work.count == 0) return;
  Pieces pieces(work, most_bytes);
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < std::clamp<std::size_t>(threads, 1, work.count); ++i)
      workers.emplace_back([&] { pieces.work_on_them(); });
    pieces.watch();
  }
  pieces.rethrow();
}

void run_parallel(const ParallelWork& work) {
  const HostInfo host = host_info();
  run_parallel(work, static_cast<std::size_t>(host.cores),
               static_cast<double>(host.memory_bytes) / 4);
}

}  // namespace lockstep::volume
