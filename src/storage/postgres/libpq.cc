#include "stator/storage/postgres/libpq.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace stator::storage::postgres {

Result<std::shared_ptr<const Libpq>> Libpq::load() {
  // Its OpenSSL is another one than ours, and registers functions to be called at exit.
  void* library = ::dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    return usage_error(fmt::format(
        "a store on PostgreSQL needs libpq, which cannot be loaded ({}): install it, with apt-get install libpq5 "
        "for example",
        ::dlerror()));
  }
  auto functions = std::make_shared<Libpq>();
#define STATOR_LIBPQ_LOAD(name)                                                                  \
  functions->name = reinterpret_cast<decltype(&::name)>(::dlsym(library, #name));                \
  if (functions->name == nullptr) {                                                              \
    return usage_error("libpq has no " #name ": a store on PostgreSQL needs libpq 14 or newer"); \
  }
  STATOR_LIBPQ_FUNCTIONS(STATOR_LIBPQ_LOAD)
#undef STATOR_LIBPQ_LOAD
  // dlsym() also looks in the libraries that libpq was linked to.
  functions->ssl_pending = reinterpret_cast<int (*)(const void*)>(::dlsym(library, "SSL_pending"));
  return std::shared_ptr<const Libpq>(std::move(functions));
}

}  // namespace stator::storage::postgres
