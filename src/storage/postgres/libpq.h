#pragma once

#include <postgresql/libpq-fe.h>

#include <memory>

#include "stator/base/result.h"

namespace stator::storage::postgres {

// The functions of libpq that we use, each with its declared type.
#define STATOR_LIBPQ_FUNCTIONS(X) \
  X(PQbackendPID)                 \
  X(PQclear)                      \
  X(PQcmdTuples)                  \
  X(PQconndefaults)               \
  X(PQconnectPoll)                \
  X(PQconnectStartParams)         \
  X(PQconninfo)                   \
  X(PQconninfoFree)               \
  X(PQconninfoParse)              \
  X(PQconsumeInput)               \
  X(PQdb)                         \
  X(PQenterPipelineMode)          \
  X(PQerrorMessage)               \
  X(PQfinish)                     \
  X(PQflush)                      \
  X(PQfreemem)                    \
  X(PQgetResult)                  \
  X(PQgetisnull)                  \
  X(PQgetlength)                  \
  X(PQgetvalue)                   \
  X(PQhost)                       \
  X(PQisBusy)                     \
  X(PQntuples)                    \
  X(PQpipelineSync)               \
  X(PQport)                       \
  X(PQresultErrorField)           \
  X(PQresultErrorMessage)         \
  X(PQresultStatus)               \
  X(PQsendPrepare)                \
  X(PQsendQueryParams)            \
  X(PQsendQueryPrepared)          \
  X(PQserverVersion)              \
  X(PQsetErrorVerbosity)          \
  X(PQsetNoticeProcessor)         \
  X(PQsetnonblocking)             \
  X(PQsocket)                     \
  X(PQsslInUse)                   \
  X(PQsslStruct)                  \
  X(PQstatus)                     \
  X(PQuser)

// libpq, loaded when somebody asks for a store on PostgreSQL: a program that does not is not linked to it, because it
// brings two dozen libraries.  Stays loaded until the process ends.
struct Libpq {
#define STATOR_LIBPQ_MEMBER(name) decltype(&::name) name = nullptr;
  STATOR_LIBPQ_FUNCTIONS(STATOR_LIBPQ_MEMBER)
#undef STATOR_LIBPQ_MEMBER
  // SSL_pending() of the OpenSSL that libpq uses; null if it uses none.
  int (*ssl_pending)(const void* session) = nullptr;

  // Errors: Usage: it is not installed, or too old.
  static Result<std::shared_ptr<const Libpq>> load();
};

}  // namespace stator::storage::postgres
