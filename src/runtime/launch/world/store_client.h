// A rank's connection to the key-value store that the launcher serves (store_server.h).
#pragma once

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/files/fd.h"
#include "runtime/launch/world/store_message.h"

namespace lockstep {

// The store is closed, for example because another rank failed, or it refused the request.
class StoreFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// A key did not exist within the timeout.
class StoreTimedOut : public StoreFailed {
 public:
  using StoreFailed::StoreFailed;
};

// Returns the socket whose number LOCKSTEP_STORE_FD has (StoreServer::door); -1 if the variable is
// not set. Removes the variable and makes the socket close-on-exec, because the rank's children are
// not ranks. Throws Error if the number is not that of a socket.
int take_store_door();

// One connection. Several threads may use it, but each request waits until earlier requests are
// answered. All calls throw StoreFailed if the store is closed or refuses the request. They throw
// Error if the message is longer than most_message_bytes.
class StoreClient {
 public:
  explicit StoreClient(int door);  // door: StoreServer::door; the caller keeps the socket

  void set(const std::vector<std::pair<std::string_view, std::string_view>>& values);
  // Sets `key` to `desired` if its value is `expected`, or if the key is missing and `expected` is
  // empty. Returns the value afterwards, or `expected` if the key is still missing.
  std::string compare_set(std::string_view key, std::string_view expected,
                          std::string_view desired);
  void append(std::string_view key, std::string_view value);
  // Adds `number` to the stored number (0 if the key is missing), stores the sum and returns it.
  // Numbers are stored as decimal text.
  std::int64_t add(std::string_view key, std::int64_t number);
  // get and wait block until all keys exist; get then returns their values. timeout_ms: 0 = no
  // limit. They throw StoreTimedOut when this time is over.
  std::vector<std::string> get(const std::vector<std::string>& keys, std::int64_t timeout_ms);
  void wait(const std::vector<std::string>& keys, std::int64_t timeout_ms);
  bool check(const std::vector<std::string>& keys);
  bool remove(std::string_view key);
  std::int64_t count();

 private:
  // Sends a request and waits for the answer. take: reads the answer after its first number, the
  // StoreAnswer.
  template <class Take>
  auto ask(const MessageWriter& request, const Take& take);
  std::string exchange(const std::string& framed);

  std::mutex mutex_;
  UniqueFd socket_;
};

}  // namespace lockstep
