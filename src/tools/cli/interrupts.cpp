#include "tools/cli/interrupts.h"

namespace lockstep::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

void note(int number) { noted = number; }

}  // namespace

NotedInterrupts::NotedInterrupts() {
  noted = 0;
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  action.sa_handler = note;
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    sigaction(numbers_[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(numbers_[i], &action, nullptr);
  }
}

NotedInterrupts::~NotedInterrupts() {
  for (std::size_t i = 0; i < numbers_.size(); ++i) sigaction(numbers_[i], &before_[i], nullptr);
}

bool NotedInterrupts::came() const { return noted != 0; }
int NotedInterrupts::newest() const { return noted; }

}  // namespace lockstep::cli
