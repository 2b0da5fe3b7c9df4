#include "xleak/monitor/own_descriptor.hpp"

#include <unistd.h>

#include <utility>

namespace xleak::monitor {

FileIdentity identity_of(int descriptor) noexcept {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return {};
  return {facts.st_dev, facts.st_ino};
}

// Why there is none stays in errno.
OwnDescriptor::OwnDescriptor(int number) noexcept
    : number_(number), identity_(number < 0 ? FileIdentity{} : identity_of(number)) {}

OwnDescriptor::~OwnDescriptor() { close(); }

OwnDescriptor::OwnDescriptor(OwnDescriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), identity_(other.identity_) {}

OwnDescriptor& OwnDescriptor::operator=(OwnDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(identity_, other.identity_);
  return *this;
}

int OwnDescriptor::number() const noexcept {
  return number_ >= 0 && identity_of(number_) == identity_ ? number_ : -1;
}

void OwnDescriptor::close() noexcept {
  const int number = this->number();
  number_ = -1;
  if (number >= 0) ::close(number);
}

}  // namespace xleak::monitor
