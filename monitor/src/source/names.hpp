#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace xleak::monitor::source {

using NameId = std::uint32_t;    ///< An identifier; 0 is none.
using DottedId = std::uint32_t;  ///< A dotted name such as torch.nn.Linear; 0 is none.

/// The identifiers of a program and the dotted names made of them, each stored once.
class Names {
 public:
  Names();
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  /// text must outlive the names.
  NameId identifier(std::string_view text);
  /// 0 where no cell has it.
  NameId known(std::string_view text) const;
  std::string_view text(NameId name) const { return texts_[name]; }

  /// The dotted name `parent.name`, in the spelling that rules use (keras for tensorflow.keras).
  DottedId dotted(DottedId parent, NameId name);
  /// 0 where the program does not have it.
  DottedId known_dotted(std::string_view text) const;
  const std::string& dotted_text(DottedId dotted) const { return dotted_[dotted]; }
  std::size_t dotted_count() const { return dotted_.size(); }

 private:
  std::unordered_map<std::string_view, NameId> ids_;
  std::vector<std::string_view> texts_;
  std::unordered_map<std::uint64_t, DottedId> joined_;
  std::unordered_map<std::string, DottedId> dotted_ids_;
  std::vector<std::string> dotted_;
};

}  // namespace xleak::monitor::source
