import CCurl
import Descriptors
import Glibc

/// epoll: the descriptors the loop sleeps on. Level-triggered, as libcurl may leave bytes unread.
final class Poller {
    struct Interest: OptionSet {
        let rawValue: UInt32
        static let read = Interest(rawValue: EPOLLIN.rawValue)
        static let write = Interest(rawValue: EPOLLOUT.rawValue)
    }

    /// Events taken at once; what does not fit is reported by the next wait.
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

    deinit {
        events.deallocate()
    }

    func watch(_ descriptor: Int32, for interest: Interest) {
        // Modified first: libcurl changes its mind about a socket more often than it opens one.
        guard control(EPOLL_CTL_MOD, descriptor, interest) != 0, errno == ENOENT else { return }
        _ = control(EPOLL_CTL_ADD, descriptor, interest)
    }

    func forget(_ descriptor: Int32) {
        _ = control(EPOLL_CTL_DEL, descriptor, [])
    }

    /// Sleeps until a descriptor is ready or `milliseconds` have passed (-1: for ever).
    func sleep(milliseconds: Int32) {
        // Negative only when a signal interrupts; nothing is ready then, and the caller's loop sleeps again.
        readyCount = max(0, Int(epoll_wait(descriptor.number, events.baseAddress, Int32(events.count), milliseconds)))
    }

    /// The descriptors that ended the last sleep.
    func forEachReady(_ body: (Int32, Interest) -> Void) {
        for event in events.prefix(readyCount) {
            body(event.data.fd, Interest(reporting: event.events))
        }
    }

    private func control(_ operation: Int32, _ target: Int32, _ interest: Interest) -> Int32 {
        var event = epoll_event(events: interest.rawValue, data: epoll_data_t(fd: target))
        return epoll_ctl(descriptor.number, operation, target, &event)
    }
}

extension Poller.Interest {
    /// An error or a hang-up counts as readable and writable, so that libcurl meets it where it can name the cause.
    fileprivate init(reporting events: UInt32) {
        let broken = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        self = broken ? [.read, .write] : Self(rawValue: events).intersection([.read, .write])
    }
}
