// Threads that report this rank's state to other ranks, and end it when WorldWatch decides so. They
// serve worlds that torchrun, Slurm or mpirun made, which no launcher of ours watches.
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
  // Posts this rank's text and returns those of all ranks, in rank order. May block, for ever if
  // the network is cut. Throws when the peer is gone for good; throws Error if the data makes no
  // sense.
  using Exchange = std::function<std::vector<std::string>(const std::string& own)>;
  // Ends the process. Runs on a thread of the watch, whatever the other threads do.
  using End = std::function<void(const Verdict& verdict)>;

  // posts: the posts of all ranks at the rendezvous.
  PeerWatch(WatchedWorld world, std::vector<Post> posts, Exchange exchange, End end);
  ~PeerWatch();  // does the same as leave()
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  void follow(double hang_after_s, End end);  // see WorldWatch; verdicts from now on call `end`
  // This rank failed by itself and is about to end. Returns when the others could read that, after
  // 2 s at most.
  void tell(const std::string& failure);
  // A collective failed here, perhaps because of another rank. Returns only if no cause is found.
  void ask(const std::string& failure);
  // From now on the other ranks may leave without ending this one.
  void leave();

 private:
  void exchange();
  void watch();
  void post(const std::string& failure, bool in_collective);
  bool serves_store() const;
  static void stay_until(double time_s);  // monotonic

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
