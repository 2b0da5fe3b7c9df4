#include "message_signature.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <mutex>
#include <stdexcept>

namespace xleak::kernel {
namespace {

constexpr std::size_t kDigestBytes = 32;

struct FreeContext {
  void operator()(EVP_MAC_CTX* it) const { EVP_MAC_CTX_free(it); }
};

class HmacSha256 final : public xeus::xauthentication {
 public:
  explicit HmacSha256(const std::string& key) {
    EVP_MAC* mac = EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr);
    context_.reset(EVP_MAC_CTX_new(mac));
    EVP_MAC_free(mac);
    std::string digest = "SHA256";
    const std::array<OSSL_PARAM, 2> parameters{
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_end()};
    const auto* bytes = reinterpret_cast<const unsigned char*>(key.data());
    if (EVP_MAC_init(context_.get(), bytes, key.size(), parameters.data()) != 1)
      throw std::runtime_error("OpenSSL has no HMAC with SHA-256, which messages are signed with.");
  }

 private:
  std::string sign_impl(const xeus::xraw_buffer& header, const xeus::xraw_buffer& parent_header,
                        const xeus::xraw_buffer& metadata,
                        const xeus::xraw_buffer& content) const override {
    constexpr char kDigits[] = "0123456789abcdef";
    std::array<unsigned char, kDigestBytes> digest{};
    std::size_t size = 0;
    {
      const std::lock_guard lock(mutex_);
      // Without a key it begins again with the one it has.
      bool worked = EVP_MAC_init(context_.get(), nullptr, 0, nullptr) == 1;
      for (const auto* part : {&header, &parent_header, &metadata, &content})
        worked = worked && EVP_MAC_update(context_.get(), part->data(), part->size()) == 1;
      worked = worked && EVP_MAC_final(context_.get(), digest.data(), &size, digest.size()) == 1;
      if (!worked) throw std::runtime_error("OpenSSL could not sign a message.");
    }
    std::string text;
    text.reserve(2 * size);
    for (const unsigned char byte : digest) {
      text += kDigits[byte >> 4];
      text += kDigits[byte & 15];
    }
    return text;
  }

  bool verify_impl(const xeus::xraw_buffer& signature, const xeus::xraw_buffer& header,
                   const xeus::xraw_buffer& parent_header, const xeus::xraw_buffer& metadata,
                   const xeus::xraw_buffer& content) const override {
    const std::string right = sign_impl(header, parent_header, metadata, content);
    return signature.size() == right.size() &&
           CRYPTO_memcmp(signature.data(), right.data(), right.size()) == 0;
  }

  mutable std::mutex mutex_;
  std::unique_ptr<EVP_MAC_CTX, FreeContext> context_;
};

}  // namespace

std::unique_ptr<xeus::xauthentication> make_signature(const std::string& scheme,
                                                      const std::string& key) {
  if (scheme == "hmac-sha256") return std::make_unique<HmacSha256>(key);
  return xeus::make_xauthentication(scheme, key);
}

}  // namespace xleak::kernel
