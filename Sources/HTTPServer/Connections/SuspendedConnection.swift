import CMicroHTTPD

/// A suspended connection. It resumes when this value ends.
///
/// In the library, resuming a connection that is not suspended is undefined behaviour, and stopping while one is
/// suspended aborts the process. Because this value can be neither copied nor lost, neither can happen.
struct SuspendedConnection: ~Copyable, @unchecked Sendable {
    private let connection: OpaquePointer

    /// Suspends a connection. Must be called within a callback of the same connection.
    init(of connection: OpaquePointer) {
        self.connection = connection
        MHD_suspend_connection(connection)
    }

    deinit { MHD_resume_connection(connection) }

    /// Resumes the connection. Any thread may call it: the library neither touches nor frees a suspended connection.
    consuming func resume() {}
}
