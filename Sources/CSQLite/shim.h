// What SQLite offers and GRDB does not show.
#ifndef FETCHD_CSQLITE_SHIM_H
#define FETCHD_CSQLITE_SHIM_H

#include <sqlite3.h>

// Whether the close of the last connection leaves the log as it is, or copies it into the database and removes it
// (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE). Swift cannot call a function with variable arguments.
static inline void sqlite_keep_log_at_close(sqlite3 *connection, int keeps) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}

// How many pages the connection has written to the log since this was last asked.
static inline int sqlite_take_pages_written(sqlite3 *connection) {
    int pages = 0, most = 0;
    sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &most, 1);
    return pages;
}

#endif
