import Glibc
import Locks

/// Where the lines of the log go. Each line is written with one call, so that lines of several threads do not mix.
public final class LogOutput: Sendable {
    private let turn = Locked(())
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameter write: called for one line at a time, with its end.
    public init(_ write: @escaping @Sendable ([UInt8]) -> Void) { self.write = write }

    /// Standard error. A line that cannot be written is dropped: there is no other place to report that.
    public static let standardError = LogOutput { line in
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
        }
    }

    func add(_ line: [UInt8]) { turn.withLock { _ in write(line) } }
}
