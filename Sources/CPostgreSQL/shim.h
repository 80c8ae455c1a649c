/// libpq as it is, the letters of `PQresultErrorField`, which Swift cannot read, and eventfd, which Swift's Glibc module does
/// not export. This header contains no logic.

#ifndef CPOSTGRESQL_SHIM_H
#define CPOSTGRESQL_SHIM_H

#include <libpq-fe.h>
#include <sys/eventfd.h>

static const int cpostgresql_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int cpostgresql_sql_state = PG_DIAG_SQLSTATE;
static const int cpostgresql_message = PG_DIAG_MESSAGE_PRIMARY;

#endif
