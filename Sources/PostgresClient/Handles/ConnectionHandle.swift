import CPostgreSQL

/// A connection of libpq with an owner. It is closed with the last reference to this object.
final class ConnectionHandle {
    let raw: OpaquePointer
    /// libpq keeps a pointer to it.
    let notices: NoticeReceiver

    /// Takes ownership of a connection that `PQconnectStartParams` has begun.
    init(owning raw: OpaquePointer, notices: NoticeReceiver) {
        self.raw = raw
        self.notices = notices
        notices.install(on: raw)
    }

    deinit { PQfinish(raw) }

    var isBad: Bool { PQstatus(raw) == CONNECTION_BAD }

    /// libpq's message about the last error.
    var message: String { String(cString: PQerrorMessage(raw)) }

    /// A setting that the server reports; nil if it does not report this one.
    func setting(_ name: String) -> String? { PQparameterStatus(raw, name).map { String(cString: $0) } }
}
