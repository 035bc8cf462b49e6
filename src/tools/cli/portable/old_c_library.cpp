// Defines functions of newer C libraries that the tool's libraries call, for systems with glibc
// 2.31.
#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" {

// From <sys/single_threaded.h> in glibc 2.32. The value false is always correct, but slower.
char __libc_single_threaded = 0;  // NOLINT(bugprone-reserved-identifier)

// From glibc 2.36. expat seeds its hash tables with it.
void arc4random_buf(void* bytes, size_t count) {
  auto* at = static_cast<unsigned char*>(bytes);
  while (count > 0) {
    const ssize_t got = getrandom(at, count, 0);
    if (got < 0) continue;  // interrupted by a signal
    at += got;
    count -= static_cast<std::size_t>(got);
  }
}

uint32_t arc4random() {
  uint32_t number = 0;
  arc4random_buf(&number, sizeof number);
  return number;
}

}  // extern "C"

namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* result;
};

// Whether the address is in this object. If so, fills in the result.
int look_at(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  const auto& search = *static_cast<Search*>(data);
  std::uintptr_t begin = UINTPTR_MAX, end = 0, unwinding = 0;
  bool holds_it = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    const std::uintptr_t first = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) unwinding = first;
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t last = first + segment.p_memsz;
    holds_it = holds_it || (first <= search.address && search.address < last);
    if (first < begin) begin = first;
    if (last > end) end = last;
  }
  if (!holds_it) return 0;
  *search.result = {};
  search.result->dlfo_map_start = reinterpret_cast<void*>(begin);
  search.result->dlfo_map_end = reinterpret_cast<void*>(end);
  search.result->dlfo_eh_frame = reinterpret_cast<void*>(unwinding);
  return 1;
}

}  // namespace

// From glibc 2.35. An exception uses it to find its handler. Returns 0 if the address belongs to an
// object, or else -1.
extern "C" int _dl_find_object(void* address, dl_find_object* result) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(address), result};
  return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}
