// What SQLite offers and GRDB does not show.
#ifndef FETCHD_CSQLITE_SHIM_H
#define FETCHD_CSQLITE_SHIM_H

#include <sqlite3.h>

// Stops SQLite from counting the bytes that it allocates: it would lock a mutex for each allocation of every thread. It must
// be called before the first connection is opened.
static inline void sqlite_leave_allocations_uncounted(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

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

static inline int sqlite_note_statement(unsigned kind, void *count, void *statement, void *text) {
    (void)kind, (void)statement, (void)text;
    __atomic_fetch_add((long long *)count, 1, __ATOMIC_RELAXED);
    return 0;
}

// From now on, each statement that the connection runs adds one to `count`, which must outlive the connection. Each
// start of a trigger counts as well.
static inline void sqlite_count_statements(sqlite3 *connection, long long *count) {
    sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, sqlite_note_statement, count);
}

static inline long long sqlite_statement_count(const long long *count) {
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

#endif
