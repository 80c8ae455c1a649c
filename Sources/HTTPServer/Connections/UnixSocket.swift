/// A Unix domain socket on which a server listens.
public struct UnixSocket: Sendable, Hashable {
    /// At most 107 bytes.
    public var path: String
    /// The permissions of its file: who may connect needs the permission to write.
    public var mode: UInt32

    public init(path: String, mode: UInt32 = 0o600) {
        self.path = path
        self.mode = mode
    }
}
