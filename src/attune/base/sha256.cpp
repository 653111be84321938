#include <openssl/evp.h>

#include <array>
#include <memory>

#include "attune/base/error.h"
#include "attune/base/file.h"

namespace attune {

namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    check(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1,
          "SHA-256: OpenSSL does not offer it");
  }
  void add(std::span<const std::byte> bytes) {
    check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "SHA-256: OpenSSL failed");
  }
  std::string finish() {
    std::array<unsigned char, 32> digest{};
    check(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1, "SHA-256: OpenSSL failed");
    std::string text;
    for (unsigned char byte : digest) text += fmt::format("{:02x}", byte);
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(std::as_bytes(std::span(bytes)));
  return hash.finish();
}

std::string sha256_of_file(const Path& path) {
  MappedFile file = MappedFile::open(path);
  Sha256 hash;
  std::span<const std::byte> rest = file.bytes();
  while (!rest.empty()) {
    auto part = rest.first(std::min(rest.size(), std::size_t{1} << 24));
    hash.add(part);
    file.drop_pages(part);
    rest = rest.subspan(part.size());
  }
  return hash.finish();
}

}  // namespace attune
