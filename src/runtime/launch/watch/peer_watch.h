// Threads that report this rank's state to other ranks, and end this rank when WorldWatch decides
// so. They are needed if torchrun, Slurm or mpirun started the ranks, because Lockstep's launcher
// then does not watch them.
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
  // Writes this rank's post into the store, and returns the posts of all ranks, in rank order.
  // Posts are texts (world_watch.h). May block forever if the network is cut. Throws Error if a
  // text is damaged, and any other exception if the store is closed.
  using Exchange = std::function<std::vector<std::string>(const std::string& own)>;
  // Ends this process. It is called on a thread of PeerWatch, while other threads may still run or
  // be blocked.
  using End = std::function<void(const Verdict& verdict)>;

  // posts: the posts that all ranks exchanged when they met. Starts the threads.
  PeerWatch(WatchedWorld world, std::vector<Post> posts, Exchange exchange, End end);
  ~PeerWatch();  // calls leave()
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  // calls WorldWatch::follow; later verdicts call this `end`
  void follow(double hang_after_s, End end);
  // Reports to the other ranks that this rank failed by itself and is about to end. Returns when
  // the report is in the store, and after 2 s at the latest. If this rank serves the store, always
  // takes 2 s, so that the other ranks can read the report.
  void tell(const std::string& failure);
  // Reports that a collective failed on this rank, perhaps because of another rank. Then waits at
  // least 15 s, so that WorldWatch can find the cause and end this process. Returns if it did not.
  void ask(const std::string& failure);
  // Stops the watch. If other ranks end from now on, this rank does not end because of them.
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
