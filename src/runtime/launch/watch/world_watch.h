// Decides from reports of all ranks (posts) which rank failed, disappeared or hangs. If torchrun,
// Slurm or mpirun started the ranks, each rank decides this for itself. The input is posts and
// times, and the output is a verdict: the reason why this rank must end. It uses no thread, network
// or clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launch/watch/hang_watch.h"
#include "runtime/launch/watch/heartbeat.h"

namespace lockstep {

// A report of a rank about itself. Each rank writes a new post into the store every
// WatchedWorld::period_s.
struct Post {
  std::string host;
  std::uint64_t beats = 0;  // the number of the post
  Heartbeat heartbeat;
  std::string failure;         // why the rank ends; empty while it works
  bool in_collective = false;  // the failure was in a collective, so another rank may be the cause
};
std::string to_text(const Post& post);
// Throws Error if the text is not a post, because other programs may be able to write to the store.
// Control characters in `host` and `failure` are escaped (`printable`).
Post post_from_text(const std::string& text);

// The posts and the state of the store, as one rank knows them at one moment.
struct News {
  std::vector<Post> posts;      // the posts of all ranks, including this one
  std::uint64_t exchanges = 0;  // how often the rank has written its post and read all posts
  bool closed = false;          // the store is gone
  // how a post in the store is damaged, and a hint; empty if none is
  std::string damage, damage_hint;
};

struct Verdict {
  std::string what, hint;
};

struct WatchedWorld {
  int rank = 0;  // this rank
  std::size_t size = 1;
  std::string store;  // "10.0.0.1:29500"
  // true: rank 0 serves the store; false: the launcher does, as with torchrun
  bool of_rank_0 = true;
  double period_s = 0.5;  // seconds between two posts of a rank
};

// `look` returns a verdict if this rank must end. That is so in these cases:
//  - At once if a rank reports that it failed by itself, or if the store is closed or a post is
//    damaged.
//  - If a collective failed: as soon as a rank is found that no longer posts, or after 5 s.
//  - If a rank has not posted, or the store has not answered, for `hang_after_s`. Its process is
//    then stopped, its host is down, or the network is cut.
//  - If HangWatch finds a rank that hangs, but only after follow() was called.
class WorldWatch {
 public:
  explicit WorldWatch(WatchedWorld world);
  // Call it when training begins. From then on, HangWatch is used too. hang_after_s is 60 s before
  // this call, and the given value afterwards; 0 = no limit.
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
