import CCurl
import Descriptors
import Glibc
import Locks

/// The one way into the loop's thread: a queue, and an eventfd that ends its sleep.
///
/// The eventfd is written only when the loop sleeps or is about to, so that a busy loop costs its callers a lock and
/// no system call; chunks are released many times a second.
final class Mailbox: Sendable {
    private struct Contents {
        var commands: [Command] = []
        /// When the first of them was posted.
        var waitingSince: ContinuousClock.Instant?
        var loopMaySleep = false
        var isClosed = false
    }

    private let contents = Locked(Contents())
    private let wakeUp: Descriptor

    /// Readable when a command waits for a sleeping loop.
    var descriptor: Int32 { wakeUp.number }

    init() throws(CurlClientError) {
        guard let wakeUp = Descriptor(result: eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))) else {
            throw .systemCallFailed("eventfd", errno: errno)
        }
        self.wakeUp = wakeUp
    }

    /// False when the loop has ended and nobody will read the command.
    @discardableResult
    func post(_ command: Command) -> Bool {
        let (isAccepted, mustWake) = contents.withLock { contents in
            guard !contents.isClosed else { return (false, false) }
            if contents.commands.isEmpty { contents.waitingSince = .now }
            contents.commands.append(command)
            defer { contents.loopMaySleep = false }
            return (true, contents.loopMaySleep)
        }
        if mustWake { eventfd_write(wakeUp.number, 1) }
        return isAccepted
    }

    /// False when commands wait: then the loop must not sleep. After true, the next `post` writes the eventfd.
    func prepareToSleep() -> Bool {
        contents.withLock { contents in
            contents.loopMaySleep = contents.commands.isEmpty
            return contents.loopMaySleep
        }
    }

    /// When the first of the commands that nobody has taken yet was posted.
    var waitingSince: ContinuousClock.Instant? {
        contents.withLock { $0.waitingSince }
    }

    /// Makes the eventfd unreadable again.
    func acknowledgeWakeUp() {
        var count: eventfd_t = 0
        eventfd_read(wakeUp.number, &count)
    }

    func takeAll() -> [Command] {
        contents.withLock { contents in
            contents.loopMaySleep = false
            defer {
                contents.commands = []
                contents.waitingSince = nil
            }
            return contents.commands
        }
    }

    /// Closes if nothing waits. In one step, so that every accepted command is read.
    func closeIfEmpty() -> Bool {
        contents.withLock { contents in
            contents.isClosed = contents.commands.isEmpty
            return contents.isClosed
        }
    }
}
