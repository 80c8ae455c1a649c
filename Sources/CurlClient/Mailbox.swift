import Base
import CCurl
import Formats
import Glibc
import Synchronization

/// The queue of commands for the loop, with an eventfd that wakes the loop up.
///
/// The eventfd is written only when the loop sleeps or is about to sleep. A command to a busy loop costs a lock and no
/// system call, which matters because chunks are released many times a second.
final class Mailbox: Sendable {
    private struct Contents {
        var commands: [Command] = []
        var waitingSince: ContinuousClock.Instant?
        var loopMaySleep = false
        var isClosed = false
    }

    private let contents = Locked(Contents())
    private let wakeUp: Descriptor

    /// Readable when a command waits and the loop sleeps.
    var descriptor: Int32 { wakeUp.number }

    init() throws(CurlClientError) {
        guard let wakeUp = Descriptor(result: eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))) else {
            throw .systemCallFailed("eventfd", errno: errno)
        }
        self.wakeUp = wakeUp
    }

    /// Returns false if the loop has ended and will not read the command.
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

    /// Returns false if commands wait, so that the loop must not sleep. After true, the next `post` writes the eventfd.
    func prepareToSleep() -> Bool {
        contents.withLock { contents in
            contents.loopMaySleep = contents.commands.isEmpty
            return contents.loopMaySleep
        }
    }

    /// The time at which the oldest waiting command was posted; nil if none waits.
    var waitingSince: ContinuousClock.Instant? { contents.withLock { $0.waitingSince } }

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

    /// Closes the mailbox if no command waits. Both happen under one lock, so that every accepted command is read.
    func closeIfEmpty() -> Bool {
        contents.withLock { contents in
            contents.isClosed = contents.commands.isEmpty
            return contents.isClosed
        }
    }
}

enum Command: Sendable {
    case start(Submission)
    case cancel(TransferID)
    case resume(TransferID)
    /// A rate limit that the transfer waits for has changed.
    case rateLimitChanged(TransferID)
    /// A lookup has ended. The addresses are empty if it failed.
    case completeLookup(String, [IPAddress])
    case shutdown
}

struct Submission: Sendable {
    let id: TransferID
    let request: TransferRequest
    let handler: any TransferHandler
}

/// Identifies a transfer across threads. It is never reused within a process.
struct TransferID: Hashable, Sendable {
    private let number: UInt64

    private static let last = Atomic<UInt64>(0)

    init() { number = Self.last.add(1, ordering: .relaxed).newValue }
}
