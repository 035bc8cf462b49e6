// Writes to a descriptor whose reader may stall (a terminal after Ctrl-S, a pager), without
// blocking the caller.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace lockstep {

// A thread writes added text in order. After an error of the descriptor (its reader is gone) the
// rest is dropped. Only one thread may use the queue.
class OutputQueue {
 public:
  explicit OutputQueue(int fd);  // not owned; must stay open until the program ends. Throws Error
  ~OutputQueue();                // drops unwritten text
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  void add(std::string_view text);  // accepts text however much is queued
  // Whether so much is queued that the source should not be read for now. Text added after that is
  // still kept.
  bool full() const;
  bool empty() const;             // all text is written or dropped
  int progress_fd() const;        // readable when some text was written since the last wait()
  void forget_progress();         // so that progress_fd() waits for the next progress
  bool wait_s(double at_most_s);  // waits until it is empty; returns whether it is

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread, which may be stuck for good
};

}  // namespace lockstep
