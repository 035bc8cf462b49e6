// The store in which the ranks of a launched run meet. It holds keys and values; one rank sets them
// and others wait for them.
#pragma once

#include <memory>

namespace lockstep {

// The store has no address. Ranks inherit a socket, the door. Each rank makes a connection and
// sends one end of it through the door. So no other process can reach the store, not even one of
// the same user.
class StoreServer {
 public:
  StoreServer();   // starts its thread; throws Error
  ~StoreServer();  // clients that wait for an answer find that the store is closed
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;
  int door() const;  // close-on-exec, number above 2; ranks find it in LOCKSTEP_STORE_FD

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep
