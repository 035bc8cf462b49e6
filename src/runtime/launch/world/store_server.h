// The store in which the ranks of a launched run meet. It holds keys and values that one rank sets
// and others wait for.
#pragma once

#include <memory>

namespace lockstep {

// It has no address. Ranks inherit a socket, its door, through which each hands over one end of its
// own connection. So no other process can reach the store, whoever owns it.
class StoreServer {
 public:
  StoreServer();   // starts its thread; throws Error
  ~StoreServer();  // clients that wait for an answer learn that the store is closed
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;
  int door() const;  // close-on-exec, above stderr; named to ranks in LOCKSTEP_STORE_FD

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep
