#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "probes/probes.hpp"
#include "xleak/monitor/session.hpp"

namespace xleak::monitor {

/// What the probes say; a test moves the values between begin and end. kUnknown reads as empty.
struct Script {
  static constexpr std::int64_t kUnknown = -1;

  std::atomic<std::int64_t> resident_bytes{1000};
  std::atomic<std::int64_t> high_water_bytes{5000};
  std::atomic<std::int64_t> heap_used_bytes{0};
  std::atomic<std::int64_t> heap_free_bytes{0};
  std::atomic<std::int64_t> heap_small_bytes{kUnknown};
  std::atomic<std::int64_t> heap_free_pieces{0};
  std::atomic<std::int64_t> now_ns{0};
  std::atomic<int> resident_reads{0};
  std::atomic<int> heap_reads{0};
  std::optional<BlockUse> block_use;
  std::vector<int> births_of;  ///< The cells that births belonged to, one after another.
  Usage usage;
};

class ScriptedProbes final : public Probes {
 public:
  explicit ScriptedProbes(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  std::optional<std::int64_t> resident_bytes() noexcept override {
    ++script_->resident_reads;
    return known(script_->resident_bytes);
  }
  std::optional<std::int64_t> high_water_bytes() noexcept override {
    return known(script_->high_water_bytes);
  }
  Usage usage() noexcept override { return script_->usage; }
  std::optional<HeapUse> heap() noexcept override {
    ++script_->heap_reads;
    const auto used = known(script_->heap_used_bytes);
    if (!used) return std::nullopt;
    return HeapUse{*used, script_->heap_free_bytes, known(script_->heap_small_bytes),
                   script_->heap_free_pieces};
  }
  std::chrono::nanoseconds now() noexcept override {
    return std::chrono::nanoseconds(script_->now_ns);
  }
  void births_belong_to(int cell) noexcept override { script_->births_of.push_back(cell); }
  std::optional<BlockUse> block_use() noexcept override { return script_->block_use; }

 private:
  static std::optional<std::int64_t> known(std::int64_t value) noexcept {
    if (value == Script::kUnknown) return std::nullopt;
    return value;
  }

  std::shared_ptr<Script> script_;
};

/// A session on scripted numbers.
struct ScriptedSession {
  explicit ScriptedSession(std::shared_ptr<Script> with = std::make_shared<Script>())
      : script(std::move(with)), session(std::make_unique<ScriptedProbes>(script)) {}

  std::shared_ptr<Script> script;
  Session session;

  /// Runs `body` as a cell and returns its record.
  CellRecord cell(const std::function<void()>& body, const InterpreterReading& before = {},
                  const InterpreterReading& after = {}) {
    const int index = session.begin_cell({}, before);
    body();
    session.end_cell(index, CellStatus::ok, std::nullopt, after);
    return session.record(index).value();
  }
};

}  // namespace xleak::monitor
