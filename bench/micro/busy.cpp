// Work of a stated size: additions and multiplications in one chain, N of them. Prints its
// processor time.
//   bench-busy N
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (count == 0) {
    std::fputs("error: bench-busy needs the number of its steps\n", stderr);
    return 2;
  }
  std::uint64_t state = 1;
  for (std::uint64_t i = 0; i < count; ++i) state = state * 6364136223846793005ULL + i;
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  std::printf("state %llx\ncpu_s %.9f\n", static_cast<unsigned long long>(state),
              static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec));
}
