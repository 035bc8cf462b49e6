#include "training/distributed/rendezvous.h"

#include "backends/exception_text.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/process/host_name.h"
#include "core/base/text/say.h"
#include "core/base/text/text.h"
#include "core/config/options.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/distributed/launched_store.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

namespace lockstep {
namespace {

constexpr double patience_s = 30;  // after this time, rank 0 names the missing ranks

std::chrono::milliseconds milliseconds(double time_s) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(time_s * 1000));
}

bool agent_serves_store() {
  const char* text = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  return text != nullptr && std::string(text) == "True";
}

// An agent's store outlives ranks that torchrun restarts, so each attempt has its own keys.
std::string prefix() {
  const char* attempt = std::getenv("TORCHELASTIC_RESTART_COUNT");
  return cat("lockstep/", attempt == nullptr ? "0" : attempt);
}

std::string place(const World& world) {
  if (world.store_door >= 0) return "the launcher's store";
  return cat(world.master_addr, ":", world.master_port);
}

std::string post_key(std::size_t rank) { return cat("post/", rank); }

std::vector<std::uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }

c10::intrusive_ptr<c10d::Store> connect(const World& world, bool server, double timeout_s) {
  if (world.store_door >= 0) return launched_store(world.store_door, milliseconds(timeout_s));
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(world.master_port);
  options.isServer = server;
  options.numWorkers = world.size;
  options.waitWorkers = false;
  options.timeout = milliseconds(timeout_s);
  auto store = c10::make_intrusive<c10d::TCPStore>(world.master_addr, options);
  return c10::make_intrusive<c10d::PrefixStore>(prefix(), store);
}

// Returns text such as "2 of 4 ranks: 1, 3".
std::string name_missing(const World& world, c10d::Store& store) {
  std::vector<std::string> missing;
  for (int rank = 0; rank < world.size; ++rank)
    if (!store.check({post_key(static_cast<std::size_t>(rank))}))
      missing.push_back(std::to_string(rank));
  return cat(missing.size(), " of ", world.size, " ranks: ", join(missing, ", "));
}

void wait_for_all(const World& world, c10d::Store& store, double timeout_s) {
  const std::string all = "all";
  const double end_s = system_clock().now_s() + timeout_s;
  const std::int64_t came = store.add("came", 1);
  if (came > world.size || came < 1)
    throw MeetingFailed(cat(came, " ranks came to ", place(world), ", but there are ", world.size),
                        "does another run or another program use the same MASTER_PORT? choose "
                        "another one");
  if (came == world.size) store.set(all, bytes("1"));
  while (!store.check({all})) {
    const double left_s = end_s - system_clock().now_s();
    if (left_s <= 0)
      throw MeetingFailed(
          cat("not all ranks came to ", place(world), " within ", format_duration({timeout_s}),
              ": missing are ", name_missing(world, store)),
          "see whether every host was started, with the same MASTER_ADDR and MASTER_PORT, "
          "and can reach that place");
    try {
      store.wait({all}, milliseconds(std::min(left_s, patience_s)));
    } catch (const std::exception&) {
      if (world.rank == 0 && left_s > patience_s) say("waiting for " + name_missing(world, store));
    }
  }
}

}  // namespace

c10::intrusive_ptr<c10d::Store> meet(const World& world, double timeout_s) {
  double meet_s = timeout_s;
  if (const char* text = std::getenv("LOCKSTEP_MEET_TIMEOUT"); text != nullptr && *text != '\0')
    meet_s = parse_duration(text).seconds;
  const WaitingInCollective waiting(Collective::store);
  try {
    auto store = connect(world, world.rank == 0 && !agent_serves_store(), meet_s);
    store->set(post_key(static_cast<std::size_t>(world.rank)),
               bytes(to_text({.host = host_name()})));
    wait_for_all(world, *store, meet_s);
    return store;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw MeetingFailed(cat("rank ", world.rank, " could not meet the other ranks at ",
                            place(world), ": ", message_of(error)),
                        world.store_door >= 0
                            ? "the logs of the other ranks say how far they came"
                            : "check MASTER_ADDR and MASTER_PORT, and that every rank was started");
  }
}

std::unique_ptr<PeerWatch> watch_peers(const World& world, c10d::Store& store, PeerWatch::End end) {
  std::vector<std::string> keys;
  std::vector<Post> posts;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(world.size); ++rank)
    keys.push_back(post_key(rank));
  for (const std::vector<std::uint8_t>& text : store.multiGet(keys))
    posts.push_back(post_from_text({text.begin(), text.end()}));
  const auto own = connect(world, /*server=*/false, 60);
  own->setTimeout(std::chrono::hours(10000));  // no time limit here, because the watch has its own
  const auto exchange = [own, keys, rank = world.rank](const std::string& words) {
    own->set(keys[static_cast<std::size_t>(rank)], bytes(words));
    std::vector<std::string> all;
    for (const std::vector<std::uint8_t>& text : own->multiGet(keys))
      all.emplace_back(text.begin(), text.end());
    return all;
  };
  // Every rank reads the posts of all ranks. So large worlds do this less often.
  const double period_s = std::max(0.5, 0.01 * world.size);
  return std::make_unique<PeerWatch>(WatchedWorld{.rank = world.rank,
                                                  .size = static_cast<std::size_t>(world.size),
                                                  .store = place(world),
                                                  .of_rank_0 = !agent_serves_store(),
                                                  .period_s = period_s},
                                     std::move(posts), exchange, std::move(end));
}

}  // namespace lockstep
