// Decides from the posts of all ranks which rank failed, vanished or hangs. It is for worlds that
// torchrun, Slurm or mpirun started, where each rank decides this itself. Its input is posts and
// times, and its output is a verdict. It uses no thread, network or clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launch/watch/hang_watch.h"
#include "runtime/launch/watch/heartbeat.h"

namespace lockstep {

// A report about itself that a rank posts repeatedly.
struct Post {
  std::string host;
  std::uint64_t beats = 0;  // grows with each post
  Heartbeat heartbeat;
  std::string failure;         // why it ends; empty while it works
  bool in_collective = false;  // the failure was in a collective, so another rank may be the cause
};
std::string to_text(const Post& post);
// Throws Error if the text is not a post, because others may be able to write to the store. Control
// characters in names and failures are made safe for a terminal.
Post post_from_text(const std::string& text);

// The knowledge of one rank at one moment.
struct News {
  std::vector<Post> posts;      // the posts of all ranks, including this one
  std::uint64_t exchanges = 0;  // successful exchanges with the store so far
  bool closed = false;          // the store is gone
  // how the contents of the store are damaged; empty if they are not
  std::string damage, damage_hint;
};

struct Verdict {
  std::string what, hint;
};

struct WatchedWorld {
  int rank = 0;  // this rank
  std::size_t size = 1;
  std::string store;      // "10.0.0.1:29500"
  bool of_rank_0 = true;  // true: rank 0 serves the store; false: an agent of the launcher does
  double period_s = 0.5;  // seconds between two posts of a rank
};

// Returns a verdict when this rank must end. Every rank decides this for itself, in these cases:
//  - A rank reports that it failed by itself, or the store is closed or damaged: at once.
//  - A collective failed: as soon as a rank is found that has become silent, or after 5 s.
//  - A rank or the store is silent for `hang_after_s`: its process is stopped, its host is down, or
//    the network is.
//  - HangWatch finds a rank that hangs. This counts only after follow().
class WorldWatch {
 public:
  explicit WorldWatch(WatchedWorld world);
  // Call it when training begins. From then on, hangs count too, and this limit replaces 60 s. 0 =
  // no limit.
  void follow(double hang_after_s);
  std::optional<Verdict> look(const News& news, double now_s);

 private:
  struct Rank {
    std::uint64_t beats = 0;
    double heard_s = 0;
  };
  double at_least(double time_s) const;
  void listen(const News& news, double now_s);
  std::vector<std::size_t> silent(const News& news, double for_s) const;
  // the longest silence of these ranks
  double longest_s(const std::vector<std::size_t>& ranks) const;
  Verdict no_answer(const News& news, const std::vector<std::size_t>& ranks) const;
  std::optional<Verdict> failure(const News& news, double now_s);
  Verdict store_silence(const News& news, double now_s) const;
  std::optional<Verdict> silence(const News& news, double now_s) const;
  std::optional<Verdict> hang(const News& news, double now_s);
  std::string own_place(const News& news) const;

  WatchedWorld world_;
  double hang_after_s_;
  std::optional<HangWatch> hangs_;
  std::vector<Rank> ranks_;
  std::optional<double> looked_s_;
  std::uint64_t exchanges_ = 0;
  double answered_s_ = 0;  // when the store last answered
  std::optional<double> collective_failed_s_;
};

}  // namespace lockstep
