#include "probes/ram.hpp"

#include <doctest/doctest.h>

#include "xleak/monitor/machine.hpp"

using namespace xleak::monitor;

TEST_SUITE("ram") {
  TEST_CASE("reads MemTotal as bytes") {
    CHECK(parse_meminfo_total("MemTotal:       1024 kB\nMemFree: 3 kB\n") == 1024 * 1024);
    CHECK_FALSE(parse_meminfo_total("MemFree: 3 kB\n"));
  }

  TEST_CASE("max is no limit") {
    CHECK(parse_cgroup_limit("1073741824\n") == 1 << 30);
    CHECK_FALSE(parse_cgroup_limit("max\n"));
    CHECK_FALSE(parse_cgroup_limit(""));
    CHECK_FALSE(parse_cgroup_limit("-1\n"));
  }

  TEST_CASE("version 2 asks the group and all above it") {
    CHECK(cgroup_limit_files("0::/user.slice/kernel\n") ==
          std::vector<std::string>{"/sys/fs/cgroup/user.slice/kernel/memory.max",
                                   "/sys/fs/cgroup/user.slice/memory.max",
                                   "/sys/fs/cgroup/memory.max"});
  }

  TEST_CASE("version 1 asks the memory controller alone") {
    CHECK(cgroup_limit_files("9:cpu:/x\n4:hugetlb,memory:/job\n") ==
          std::vector<std::string>{"/sys/fs/cgroup/memory/job/memory.limit_in_bytes",
                                   "/sys/fs/cgroup/memory/memory.limit_in_bytes"});
  }

  TEST_CASE("malformed lines are left out") {
    CHECK(cgroup_limit_files("").empty());
    CHECK(cgroup_limit_files("\n:\nnonsense\n0::\n0::relative\n").empty());
  }

  TEST_CASE("this machine has memory") { CHECK(ram_bytes() > 0); }
}
