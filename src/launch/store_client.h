// A rank's way to the store of the launcher.
#pragma once

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "launch/store_message.h"

namespace lockstep {

// The store is closed, because another rank failed; or it refused what was asked.
class StoreFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// A key did not come in time.
class StoreTimedOut : public StoreFailed {
 public:
  using StoreFailed::StoreFailed;
};

// The door (store_server.h) that LOCKSTEP_STORE_FD names; -1 without it. Takes the variable out of
// the environment and closes the door on exec, since what a rank starts is no rank. Throws Error
// where it names no socket.
int take_store_door();

// A connection of its own. May be used by several threads: each waits for what those before it ask.
// All throw StoreFailed; Error for what is too long.
class StoreClient {
 public:
  explicit StoreClient(int door);  // not owned

  void set(const std::vector<std::pair<std::string_view, std::string_view>>& values);
  // Sets `key` to `desired` where it is `expected`, or missing and `expected` is empty. Its value
  // afterwards; `expected` where it is missing.
  std::string compare_set(std::string_view key, std::string_view expected,
                          std::string_view desired);
  void append(std::string_view key, std::string_view value);
  // To the number there, 0 where there is none; the sum. As text the number is decimal.
  std::int64_t add(std::string_view key, std::int64_t number);
  // Waits until all keys are there; timeout_ms: 0 waits for ever.
  std::vector<std::string> get(const std::vector<std::string>& keys, std::int64_t timeout_ms);
  void wait(const std::vector<std::string>& keys, std::int64_t timeout_ms);
  bool check(const std::vector<std::string>& keys);
  bool remove(std::string_view key);
  std::int64_t count();

 private:
  // Of the answer, what follows its kind.
  template <class Take>
  auto ask(const MessageWriter& request, const Take& take);
  std::string exchange(const std::string& framed);

  std::mutex mutex_;
  UniqueFd socket_;
};

}  // namespace lockstep
