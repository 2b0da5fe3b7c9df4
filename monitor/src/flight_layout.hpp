#pragma once
#include <cstdint>
#include <type_traits>

#include "xleak/monitor/flight_record.hpp"

/// The bytes of a record's file. Frozen: who changes a field raises kVersion.
namespace xleak::monitor::flight {

constexpr std::size_t kFileBytes = 64 << 10;
constexpr char kMagic[8] = {'x', 'l', 'e', 'a', 'k', 'r', 'e', 'c'};
constexpr std::uint32_t kVersion = 1;
constexpr std::int64_t kUnknown = -1;
constexpr std::size_t kPathBytes = 1024;
constexpr std::size_t kHistory = 1024;

/// Written when the process starts, some numbers also later; each of those is one store.
struct Process {
  char magic[8];
  std::uint32_t version;
  std::int32_t pid;
  std::uint64_t start_ticks;  ///< Since the machine started; tells a reused pid.
  double started;
  std::int64_t group_kills;
  std::int64_t machine_kills;
  std::int64_t limit_bytes;
  std::uint32_t limit_is_group;
  std::uint32_t asked_to_end;
  char boot_id[40];
  char versions[128];
  char group_kills_file[kPathBytes];
  char connection_file[kPathBytes];
  char folder[kPathBytes];
};

/// Written by who reads the record of a process that has ended.
struct Afterwards {
  std::uint32_t read;
  std::uint32_t told;
  std::uint32_t exit_is_known;
  std::int32_t exit_status;
  std::int64_t group_kills;
  std::int64_t machine_kills;
};

/// A slot is whole where both of its numbers are equal and not 0: whoever is killed while writing
/// leaves `after` at 0. The larger number is the later one.
struct Cell {
  std::uint64_t before;
  std::int32_t index;
  std::int32_t execution_count;
  double began;
  std::uint32_t running;
  char cell_id[64];
  char source[kFlightSourceBytes + 4];
  std::uint64_t after;
};

struct Sample {
  std::uint64_t before;
  std::uint64_t cell;  ///< The number of the cell's slot.
  double seconds;
  std::int64_t resident_bytes;
  std::int64_t available_bytes;
  std::uint64_t after;
};

struct File {
  Process process;
  Afterwards afterwards;
  Cell cells[2];     ///< Written in turn: one is always whole.
  Sample latest[2];  ///< Likewise.
  Sample history[kHistory];
};

static_assert(std::is_trivially_copyable_v<File> && sizeof(File) <= kFileBytes);

}  // namespace xleak::monitor::flight
