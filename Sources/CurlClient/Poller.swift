import Base
import CCurl
import Glibc

/// The epoll instance of the loop. It is level-triggered, because libcurl may leave bytes unread.
final class Poller {
    struct Interest: OptionSet {
        let rawValue: UInt32
        static let read = Interest(rawValue: EPOLLIN.rawValue)
        static let write = Interest(rawValue: EPOLLOUT.rawValue)
    }

    /// The maximum number of events of one wait. The next wait reports the rest.
    private static let batch = 256

    private let descriptor: Descriptor
    private let events: UnsafeMutableBufferPointer<epoll_event>
    private var readyCount = 0

    init() throws(CurlClientError) {
        guard let descriptor = Descriptor(result: epoll_create1(Int32(EPOLL_CLOEXEC))) else {
            throw .systemCallFailed("epoll_create1", errno: errno)
        }
        self.descriptor = descriptor
        events = .allocate(capacity: Self.batch)
    }

    deinit { events.deallocate() }

    func watch(_ descriptor: Int32, for interest: Interest) {
        // Modify first: libcurl changes its interest in a socket more often than it opens a socket.
        guard control(EPOLL_CTL_MOD, on: descriptor, interest) != 0, errno == ENOENT else { return }
        _ = control(EPOLL_CTL_ADD, on: descriptor, interest)
    }

    func forget(_ descriptor: Int32) { _ = control(EPOLL_CTL_DEL, on: descriptor, []) }

    /// Waits until a descriptor is ready or `milliseconds` have passed (-1: no limit).
    func sleep(milliseconds: Int32) {
        readyCount = wait(milliseconds)
        // A signal has interrupted the wait. Descriptors can be ready nevertheless: epoll does not report them then.
        while readyCount < 0 { readyCount = wait(0) }
    }

    private func wait(_ milliseconds: Int32) -> Int {
        Int(epoll_wait(descriptor.number, events.baseAddress, Int32(events.count), milliseconds))
    }

    func forEachReady(_ body: (Int32, Interest) -> Void) {
        for event in events.prefix(readyCount) { body(event.data.fd, Interest(reporting: event.events)) }
    }

    private func control(_ operation: Int32, on target: Int32, _ interest: Interest) -> Int32 {
        var event = epoll_event(events: interest.rawValue, data: epoll_data_t(fd: target))
        return epoll_ctl(descriptor.number, operation, target, &event)
    }
}

extension Poller.Interest {
    /// Errors and hang-ups count as readable and writable, so that libcurl reads or writes, and reports the cause.
    fileprivate init(reporting events: UInt32) {
        let broken = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        self = broken ? [.read, .write] : Self(rawValue: events).intersection([.read, .write])
    }
}
