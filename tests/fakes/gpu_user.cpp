// A stand-in for a program that uses GPUs, to be looked at: it maps each file that follows --map,
// keeps as many threads busy as --burn says, overwrites its environment with --title as
// setproctitle does, writes a byte to standard output when all that is so, and runs until it is
// killed. Other words are for its command line only.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--map" &&
        mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, open(argv[i + 1], O_RDONLY), 0) == MAP_FAILED)
      return 1;
    if (word == "--title")
      for (char** entry = environ; *entry; ++entry) std::memset(*entry, 0, std::strlen(*entry));
    for (int left = word == "--burn" ? std::atoi(argv[i + 1]) : 0; left > 0; --left)
      std::thread([] {
        for (volatile unsigned long count = 0;;) count = count + 1;
      }).detach();
  }
  if (write(STDOUT_FILENO, "", 1) != 1) return 1;
  for (;;) pause();
}
