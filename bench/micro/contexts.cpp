// Makes a context on the GPU, takes 1 MB, waits, and gives all back; prints how many seconds each
// took.
//   contexts [LIBRARY]      loads it before, as a program that uses it does
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "error: %s\n", cudaGetErrorString(error));
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  const double start = seconds();
  if (argc > 1 && dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    std::fprintf(stderr, "error: %s\n", dlerror());
    return 2;
  }
  const double loaded = seconds();
  check(cudaFree(nullptr));
  void* memory = nullptr;
  check(cudaMalloc(&memory, 1 << 20));
  check(cudaDeviceSynchronize());
  const double made = seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const double rested = seconds();
  check(cudaDeviceReset());
  const double end = seconds();
  std::printf("%.2f %.2f %.2f %.2f\n", loaded - start, made - loaded, end - rested, end - start);
}
