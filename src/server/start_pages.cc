#include "stator/server/start_pages.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace stator::server {
namespace {

struct Mapping {
  std::uintptr_t start = 0, end = 0;
  bool only_read_from_a_file = false;
};

// "start-end permissions offset device inode path", or nothing of that kind: then `start` is 0.
Mapping mapping_of(std::string_view line) {
  Mapping mapping;
  const auto* const last = line.data() + line.size();
  const auto first = std::from_chars(line.data(), last, mapping.start, 16);
  if (first.ec != std::errc() || first.ptr == last || *first.ptr != '-') return {};
  const auto second = std::from_chars(first.ptr + 1, last, mapping.end, 16);
  if (second.ec != std::errc() || last - second.ptr < 5 || *second.ptr != ' ') return {};
  mapping.only_read_from_a_file = second.ptr[2] == '-' && line.find(" /") != std::string_view::npos;
  return mapping;
}

// The mappings that have nothing but pages of their file.  Others, such as code with a breakpoint, would be lost.
std::vector<Mapping> mappings_as_on_disk() {
  std::vector<Mapping> found;
  std::ifstream mappings("/proc/self/smaps");
  Mapping mapping;
  for (std::string line; std::getline(mappings, line);) {
    if (const auto begun = mapping_of(line); begun.start != 0) mapping = begun;
    if (!line.starts_with("Anonymous:") || line.find(" 0 kB") == std::string::npos) continue;
    if (mapping.only_read_from_a_file) found.push_back(mapping);
  }
  return found;
}

// Of a program or library, its parts that nothing writes to.
int release_parts(dl_phdr_info* object, std::size_t /*size*/, void* candidates) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const auto start = (object->dlpi_addr + part.p_vaddr) / page * page;
    const auto end = (object->dlpi_addr + part.p_vaddr + part.p_memsz + page - 1) / page * page;
    for (const auto& mapping : *static_cast<const std::vector<Mapping>*>(candidates)) {
      if (mapping.start < start || mapping.end > end) continue;
      // Without effect where it fails, such as on locked memory.
      (void)::madvise(reinterpret_cast<void*>(mapping.start), mapping.end - mapping.start, MADV_DONTNEED);
    }
  }
  return 0;
}

}  // namespace

void release_start_pages() {
  auto candidates = mappings_as_on_disk();
  // Another thread may have unmapped a file since, and have other memory there now.  The parts of programs and
  // libraries stay: while dl_iterate_phdr() runs, no library is unloaded.
  ::dl_iterate_phdr(release_parts, &candidates);
}

}  // namespace stator::server
