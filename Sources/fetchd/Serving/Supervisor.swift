import Dispatch
import Glibc
import Logging

/// The service manager that started this process, such as systemd: it is informed when the service is ready, that it
/// still makes progress, and when it stops (sd_notify(3), sd_watchdog_enabled(3)). Without one, nothing happens.
///
/// The messages are sent on their own queue, because the socket may block.
struct Supervisor: Sendable {
    private let socket: NotifySocket?
    /// Half of the time after which the service manager restarts a process that gives no sign of life; nil: it does not.
    private let interval: Duration?
    private let queue = DispatchQueue(label: "fetchd.notify")

    init(environment: [String: String], log: Logger) {
        let name = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        socket = name.flatMap(NotifySocket.init)
        interval = socket.flatMap { _ in Self.interval(environment) }
        if let name, socket == nil {
            log.warning(
                "NOTIFY_SOCKET is '\(name)'. fetchd cannot report its state there, because this is neither a path nor an abstract name."
            )
        }
    }

    private static func interval(_ environment: [String: String]) -> Duration? {
        // The variables may be meant for the parent process, which has passed them on.
        if let pid = environment["WATCHDOG_PID"], pid != String(getpid()) { return nil }
        guard let time = environment["WATCHDOG_USEC"].flatMap(Int64.init), time > 0 else { return nil }
        return .microseconds(time / 2)
    }

    func reportReady(at address: String) { report("READY=1\nSTATUS=Ready at \(address)") }

    /// The service answers requests with the reason why it is not ready. Without this message, the service manager would stop
    /// a service that stands by.
    @Sendable func reportWaiting(_ why: String) { report("READY=1\nSTATUS=Waiting: \(why)") }

    func reportStopping() { report("STOPPING=1\nSTATUS=Stopping") }

    /// Gives signs of life until the task is cancelled. A heartbeat that does not return ends them.
    func watch(_ heartbeat: () async -> Void) async {
        guard let interval else { return }
        while !Task.isCancelled {
            await heartbeat()
            report("WATCHDOG=1")
            try? await Task.sleep(for: interval)
        }
    }

    private func report(_ message: String) {
        guard let socket else { return }
        queue.async { socket.send(message) }
    }
}

/// The socket on which the service manager receives messages about the state of this process (sd_notify(3)).
struct NotifySocket: Sendable {
    private let address: sockaddr_un
    private let length: socklen_t

    /// - Parameter name: the value of `NOTIFY_SOCKET`: an absolute path, or `@` and an abstract name (unix(7)).
    /// - Returns: nil for another kind of address, and for a name that is too long.
    init?(_ name: String) {
        var bytes = Array(name.utf8)
        guard let first = bytes.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@") else { return nil }
        if first == UInt8(ascii: "@") { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { path in
            guard bytes.count < path.count else { return false }
            path.copyBytes(from: bytes)
            return true
        }
        guard fits, let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) else { return nil }
        self.address = address
        // An abstract name has no end mark: the length of the address ends it.
        length = socklen_t(start + bytes.count)
    }

    /// Sends one datagram. It can block while the queue of the receiver is full.
    ///
    /// - Returns: false if the receiver does not exist or does not take the datagram.
    @discardableResult
    func send(_ message: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(message.utf8)
        return withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length) == bytes.count
            }
        }
    }
}
