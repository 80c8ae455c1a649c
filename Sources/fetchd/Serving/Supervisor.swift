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

    /// - Parameter address: the URL of the API.
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
