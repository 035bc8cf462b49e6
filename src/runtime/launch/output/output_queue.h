// Writes to a descriptor whose reader may stall, without blocking the caller. A reader may be a
// terminal after Ctrl-S, or a pager.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace lockstep {

// A thread writes the added text in order. If the descriptor fails because its reader is gone, the
// rest is dropped. Only one thread may use the queue.
class OutputQueue {
 public:
  explicit OutputQueue(int fd);  // fd must stay open until the program ends; throws Error
  ~OutputQueue();                // drops unwritten text
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  void add(std::string_view text);  // never blocks and has no limit
  // Whether so much is queued that the caller should stop reading from its source for now. Text
  // that is added nevertheless is kept.
  bool full() const;
  bool empty() const;             // all text is written or dropped
  int progress_fd() const;        // readable if text was written since the last forget_progress()
  void forget_progress();         // makes progress_fd() wait for the next progress
  bool wait_s(double at_most_s);  // waits until the queue is empty; returns whether it is

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread, which may be blocked forever
};

}  // namespace lockstep
