// The key-value store through which the ranks of a launched run find each other. One rank sets a
// key, and others wait for it.
#pragma once

#include <memory>

namespace lockstep {

// The store has no network address. Ranks inherit a socket, the door. Each rank makes a pair of
// connected sockets, and sends one of them through the door. So other processes cannot reach the
// store, even if they belong to the same user.
class StoreServer {
 public:
  StoreServer();   // starts the server thread; throws Error if that fails
  ~StoreServer();  // clients that still wait for an answer get StoreFailed
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;
  int door() const;  // close-on-exec, number above 2; ranks find it in LOCKSTEP_STORE_FD

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep
