#include "stator/http/browser/page.h"

namespace stator::http {

Response page_answer(std::string_view html) {
  return {.status = 200,
          .content_type = "text/html; charset=utf-8",
          .headers =
              "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
              "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src "
              "'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'\r\n",
          .body = std::string(html)};
}

}  // namespace stator::http
