// A sleeping connection, as a value that can be neither copied nor forgotten.
//
// To resume a connection that does not sleep is undefined behaviour in the library, and to stop it while one sleeps
// aborts the process. As the right to resume is a value that exists exactly once and resumes when it goes out of
// existence, neither mistake can be written down.

import CMicroHTTPD

/// A connection that the library leaves alone until this value ends.
struct SuspendedConnection: ~Copyable, @unchecked Sendable {
    private let connection: OpaquePointer

    /// Puts a connection to sleep. Only to be called from within a callback of that same connection.
    init(of connection: OpaquePointer) {
        self.connection = connection
        MHD_suspend_connection(connection)
    }

    deinit { MHD_resume_connection(connection) }

    /// Wakes the connection. It is safe from any thread: while it sleeps the library neither touches nor frees it.
    consuming func resume() {}
}
