import Glibc

/// The reason why a server could not start. The description says what to change.
public enum HTTPServerError: Error, Sendable, Hashable {
    /// The address is neither an IPv4 nor an IPv6 literal.
    case addressInvalid(String)
    /// Another socket already listens on this address and port.
    case addressInUse(address: String, port: UInt16)
    /// No interface of this machine has the address.
    case addressUnavailable(address: String)
    /// A process listens on this Unix domain socket.
    case pathInUse(String)
    /// The path of a Unix domain socket is empty, or has more bytes than an address can hold.
    case pathInvalid(String)
    /// There is a file at the path of the Unix domain socket that is not a socket.
    case pathOccupied(String)
    /// The process does not have the privileges for this port.
    case permissionDenied(address: String, port: UInt16)
    /// An option is outside its range.
    case optionInvalid(String)
    /// A system call failed for another reason.
    case systemCallFailed(String, errno: Int32)
    /// The library could not start. The most likely reason is that threads or descriptors ran out.
    case libraryFailed
}

extension HTTPServerError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .addressInvalid(let address): "'\(address)' is not an IPv4 or IPv6 address"
        case .addressInUse(let address, let port): "\(address) port \(port) is in use by another process"
        case .addressUnavailable(let address): "no interface of this machine has the address \(address)"
        case .pathInUse(let path): "another process listens on \(path)"
        case .pathInvalid(let path): "the path of a Unix domain socket must have 1 to 107 bytes: '\(path)'"
        case .pathOccupied(let path): "\(path) exists and is not a socket"
        case .permissionDenied(let address, let port): "not permitted to listen on \(address) port \(port)"
        case .optionInvalid(let reason): reason
        case .systemCallFailed(let call, let errno): "\(call): \(String(cString: strerror(errno)))"
        case .libraryFailed: "the HTTP library could not start its threads"
        }
    }
}
