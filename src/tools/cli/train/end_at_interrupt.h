// Ends a training that has nothing to save at the first interrupt.
#pragma once

#include "core/base/process/descriptors.h"
#include "runtime/launch/signals.h"

#include <functional>
#include <string>
#include <thread>

namespace lockstep::cli {

class EndAtInterrupt {
 public:
  // A thread waits for the signals that SignalPipe takes over. At the first it calls `last_words`
  // with the signal's name, such as SIGINT, and ends the process with exit_interrupted.
  explicit EndAtInterrupt(std::function<void(const std::string& signal)> last_words);
  ~EndAtInterrupt();  // from then on the thread is gone
  EndAtInterrupt(const EndAtInterrupt&) = delete;
  EndAtInterrupt& operator=(const EndAtInterrupt&) = delete;

 private:
  void wait();

  std::function<void(const std::string&)> last_words_;
  SignalPipe signals_;
  Pipe done_ = make_pipe();
  std::thread thread_;
};

}  // namespace lockstep::cli
