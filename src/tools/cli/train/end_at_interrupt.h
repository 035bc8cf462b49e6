// Ends the program at the first interrupt. It is for trainings that have nothing to save.
#pragma once

#include "core/base/process/descriptors.h"
#include "runtime/launch/signals.h"

#include <functional>
#include <string>
#include <thread>

namespace lockstep::cli {

class EndAtInterrupt {
 public:
  // Starts a thread that waits for the signals of SignalPipe. At the first signal, it calls
  // `last_words` with the signal's name, such as SIGINT. Then it ends the process with
  // exit_interrupted.
  explicit EndAtInterrupt(std::function<void(const std::string& signal)> last_words);
  ~EndAtInterrupt();  // ends the thread
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
