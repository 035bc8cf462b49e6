// record-nvml [SECONDS] [INTERVAL]: writes what NVML tells of this machine's GPUs to standard
// output, as a script for the fake NVML. 20 seconds, five times a second, unless told otherwise.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include "fakes/nvml_recorder.h"

int main(int count, char** words) {
  try {
    const double seconds = count > 1 ? std::stod(words[1]) : 20;
    const double interval_s = count > 2 ? std::stod(words[2]) : 0.2;
    if (interval_s < 0.1 || seconds < interval_s)
      throw std::invalid_argument("the interval is 0.1 s at least, and fits into the time");
    lockstep::testing::NvmlRecorder recorder;
    const double began_s = lockstep::system_clock().now_s();
    for (int i = 0; i * interval_s <= seconds; ++i) {
      const double wait_s = began_s + i * interval_s - lockstep::system_clock().now_s();
      std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
      recorder.add(i * interval_s);
    }
    std::cout << recorder.script().dump() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "record-nvml: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
