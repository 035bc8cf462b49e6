// Threads that report this rank's state to other ranks, and end this rank when WorldWatch decides
// so. They are for worlds that torchrun, Slurm or mpirun started, because no launcher of ours
// watches these.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/launch/watch/world_watch.h"

namespace lockstep {

class PeerWatch {
 public:
  // Posts this rank's text and returns the texts of all ranks, in rank order. May block forever if
  // the network is cut. Throws if the other side is gone for good. Throws Error if the data is
  // damaged.
  using Exchange = std::function<std::vector<std::string>(const std::string& own)>;
  // Ends the process. It runs on a thread of the watch, whatever the other threads do.
  using End = std::function<void(const Verdict& verdict)>;

  // posts: the posts of all ranks at the rendezvous.
  PeerWatch(WatchedWorld world, std::vector<Post> posts, Exchange exchange, End end);
  ~PeerWatch();  // calls leave()
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  void follow(double hang_after_s, End end);  // see WorldWatch; later verdicts call this `end`
  // Reports that this rank failed by itself and is about to end. Returns once the others could read
  // the report, and after 2 s at the latest. If this rank serves the store, always takes 2 s.
  void tell(const std::string& failure);
  // Reports that a collective failed here, perhaps because of another rank. If a cause is found,
  // the process ends. Otherwise this returns.
  void ask(const std::string& failure);
  // From now on, the other ranks may leave without ending this one.
  void leave();

 private:
  void exchange();
  void watch();
  void post(const std::string& failure, bool in_collective);
  bool serves_store() const;
  static void stay_until(double time_s);  // time_s: monotonic

  const WatchedWorld world_;
  const Exchange exchange_;
  std::mutex mutex_;
  std::condition_variable changed_;
  News news_;
  Post own_;
  WorldWatch watch_;
  End end_;
  bool leaving_ = false, exchange_ended_ = false;
  std::thread exchanging_, watching_;
};

}  // namespace lockstep
