import Base
import Glibc
import Synchronization

/// Bytes of a response body, with their memory.
///
/// A chunk counts against the window of its transfer while it is referenced, so release it when its bytes are processed. The
/// release returns the buffer to the client, and resumes the transfer if it was paused because the window was full.
public final class Chunk: Sendable {
    public let count: Int
    private let buffer: Buffer
    private let start: Int
    private let pool: BufferPool
    private let window: SharedWindow

    init(_ buffer: Buffer, _ range: Range<Int>, pool: BufferPool, window: SharedWindow) {
        start = range.lowerBound
        count = range.count
        self.buffer = buffer
        self.pool = pool
        self.window = window
    }

    deinit {
        pool.giveBack(buffer)
        window.giveBack(count)
    }

    /// The bytes, valid only during `body`. Their address and their offset in the body are equal modulo the size of a
    /// page, if the size of chunks is a multiple of it.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result { try body(UnsafeRawBufferPointer(start: buffer.start + start, count: count)) }
}

/// Collects the small pieces that libcurl delivers into chunks.
///
/// A chunk begins in its buffer at the same place within a page as in the body. So a writer that bypasses the page cache
/// can write the chunks after an unfinished one, too.
struct ChunkBuilder {
    private let pool: BufferPool
    private let window: SharedWindow
    private var buffer: Buffer?
    /// The bytes of the buffer that belong to the unfinished chunk.
    private var filled = 0..<0
    private var position = 0
    private let patience: Duration
    private var pace = Pace.steady
    /// Of the unfinished chunk.
    private var firstArrival: ContinuousClock.Instant?
    private var lastArrival: ContinuousClock.Instant?
    /// Until when the unfinished chunk may wait for more bytes; nil if there is none.
    private(set) var due: ContinuousClock.Instant?

    /// How soon bytes follow each other.
    private enum Pace {
        /// They fill a large chunk in time.
        case fast
        case steady
        /// Nothing follows a piece in time, so to wait for it would only keep the memory.
        case slow
    }

    /// - Parameter patience: the longest time from the first byte of a chunk to its delivery.
    init(pool: BufferPool, window: SharedWindow, patience: Duration) {
        self.pool = pool
        self.window = window
        self.patience = patience
    }

    /// Copies bytes, for which the window must have room, and passes each full chunk to `handOver`.
    mutating func append(_ bytes: UnsafeRawBufferPointer, at now: ContinuousClock.Instant, handOver: (Chunk) -> Void) {
        if pace == .slow, let lastArrival, lastArrival < now, now - lastArrival < patience { pace = .steady }
        defer { lastArrival = now }
        var rest = bytes[...]
        while !rest.isEmpty {
            let buffer = currentBuffer(at: now)
            let piece = rest.prefix(buffer.capacity - filled.upperBound)
            UnsafeMutableRawBufferPointer(start: buffer.start + filled.upperBound, count: piece.count)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: piece))
            extend(by: piece.count)
            rest = rest.dropFirst(piece.count)
            guard filled.upperBound == buffer.capacity else { continue }
            pace = .fast
            if let chunk = takePending() { handOver(chunk) }
        }
    }

    /// The memory that the unfinished chunk has left. `extend` adds the bytes that it has got; they must not fill it.
    var room: UnsafeMutableRawBufferPointer {
        guard let buffer else { return .init(start: nil, count: 0) }
        return .init(start: buffer.start + filled.upperBound, count: buffer.capacity - filled.upperBound)
    }

    mutating func extend(by count: Int) {
        filled = filled.lowerBound..<filled.upperBound + count
        position += count
    }

    /// Removes and returns the unfinished chunk, because it did not become full in time.
    mutating func takeOverdue() -> Chunk? {
        pace = lastArrival == firstArrival ? .slow : .steady
        return takePending()
    }

    mutating func takePending() -> Chunk? {
        guard let buffer = buffer.take() else { return nil }
        due = nil
        return Chunk(buffer, filled, pool: pool, window: window)
    }

    private mutating func currentBuffer(at now: ContinuousClock.Instant) -> Buffer {
        if let buffer { return buffer }
        let fresh = pool.take(pace == .fast ? .large : .small)
        let start = fresh.capacity.isMultiple(of: Buffer.alignment) ? position % Buffer.alignment : 0
        buffer = fresh
        filled = start..<start
        firstArrival = now
        due = pace == .slow ? now : now + patience
        return fresh
    }
}

/// The memory of one chunk.
///
/// It is unchecked because it has one owner at a time: the loop fills it, then a chunk holds it without changes. The
/// lock of the pool separates one owner from the next.
///
/// The memory comes from the kernel and returns to it. From the allocator, buffers that live for a moment would lie between
/// objects that live as long as a transfer, and would stay resident.
final class Buffer: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    let capacity: Int

    /// A page, for writers that bypass the page cache.
    static let alignment = 4096

    init(capacity: Int) {
        self.capacity = capacity
        let memory = mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { fatalError("no memory for \(capacity) bytes of a download") }
        start = memory
    }

    deinit { munmap(start, capacity) }
}

/// Unused buffers. A transfer takes a buffer when bytes arrive, not when it starts, so a thousand idle connections hold
/// none. A slow transfer takes small ones, because it holds each of them until the flush interval ends.
final class BufferPool: Sendable {
    enum Size { case small, large }

    /// The maximum number of unused buffers; more are freed. It is enough for the hand-over between a loop and its writers: of
    /// small buffers, slow transfers hand many over in one turn.
    private static let (mostSmall, mostLarge) = (128, 16)
    private static let small = 32 << 10

    private let smallBytes: Int
    private let largeBytes: Int
    private let idle = Locked<(small: [Buffer], large: [Buffer])>(([], []))

    init(bufferBytes: Int) {
        largeBytes = bufferBytes
        smallBytes = min(bufferBytes, Self.small)
    }

    func take(_ size: Size) -> Buffer {
        switch size {
        case .small: idle.withLock { $0.small.popLast() } ?? Buffer(capacity: smallBytes)
        case .large: idle.withLock { $0.large.popLast() } ?? Buffer(capacity: largeBytes)
        }
    }

    func giveBack(_ buffer: Buffer) {
        idle.withLock { idle in
            if buffer.capacity == smallBytes {
                if idle.small.count < Self.mostSmall { idle.small.append(buffer) }
            } else {
                if idle.large.count < Self.mostLarge { idle.large.append(buffer) }
            }
        }
    }
}

/// The bytes that the handlers of all transfers hold.
final class HeldBytes: Sendable {
    private let count = Atomic(0)
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var exceedLimit: Bool { count.load(ordering: .relaxed) > limit }

    func add(_ bytes: Int) { count.add(bytes, ordering: .relaxed) }
}

/// The window of a transfer, shared by the loop that fills it and the threads that release chunks.
final class SharedWindow: Sendable {
    private let transfer: TransferID
    private let mailbox: Mailbox
    private let window: Locked<Window>
    private let total: HeldBytes

    init(of transfer: TransferID, capacity: Int, within total: HeldBytes, mailbox: Mailbox) {
        self.transfer = transfer
        self.mailbox = mailbox
        self.total = total
        window = Locked(Window(capacity: capacity))
    }

    /// The bytes that are still held belong to a chunk that was never delivered.
    deinit { total.add(-window.withLock(\.held)) }

    func hasRoom(for count: Int) -> Bool { window.withLock { $0.hasRoom(for: count) } }

    func take(_ count: Int) -> Window.Admission {
        let admission = window.withLock { $0.take(count, isScarce: total.exceedLimit) }
        if admission != .refused { total.add(count) }
        return admission
    }

    var isClosed: Bool { window.withLock { $0.isClosed } }

    var openRoom: Int { window.withLock { $0.openRoom } }

    func giveBack(_ count: Int) {
        total.add(-count)
        if window.withLock({ $0.giveBack(count) }) { mailbox.post(.resume(transfer)) }
    }
}

/// Flow control of a transfer, as a value: the number of bytes that the handler holds, and whether more may be delivered.
struct Window: Sendable {
    private let capacity: Int
    private(set) var held = 0
    /// A closed window opens when the handler holds no more bytes than this; nil if it is open.
    private var opensAt: Int?
    /// Less room than this closes the window; 0 for a small one, which is closed when it is full.
    private let margin: Int

    /// The bytes of one read of libcurl. It copies those that find no room, to deliver them later.
    static let largestRead = EasyHandle.largestBuffer

    init(capacity: Int) {
        self.capacity = capacity
        margin = capacity >= 4 * Self.largestRead ? Self.largestRead : 0
    }

    enum Admission {
        /// The bytes are taken.
        case open
        /// The bytes are taken, and what libcurl has read already can follow. It should read no more.
        case closed
        case refused
    }

    /// True until the window opens again.
    var isClosed: Bool { opensAt != nil }

    /// Whether `count` more bytes fit. An empty window accepts any number, because otherwise a window that is smaller
    /// than one piece would never open.
    func hasRoom(for count: Int) -> Bool { held == 0 || held + count <= capacity }

    /// The bytes that an open window takes without closing.
    var openRoom: Int { isClosed ? 0 : max(0, capacity - margin - held) }

    /// Takes room, and closes the window if there is not enough for these bytes, or for those of the next read. It opens
    /// when half of it is free, so that a transfer is not paused and resumed for every chunk.
    ///
    /// - Parameter isScarce: whether the handlers of all transfers hold too much. Then one read of libcurl closes the window, until
    ///   the handler holds nothing.
    mutating func take(_ count: Int, isScarce: Bool = false) -> Admission {
        let fits = hasRoom(for: count)
        if fits { held += count }
        if isScarce && held > 0 {
            opensAt = 0
        } else if !fits || margin > 0 && held > capacity - margin {
            opensAt = opensAt ?? capacity / 2
        }
        return !fits ? .refused : isClosed ? .closed : .open
    }

    /// Returns room.
    ///
    /// - Returns: whether a closed window opens.
    mutating func giveBack(_ count: Int) -> Bool {
        held -= count
        guard let opensAt, held <= opensAt else { return false }
        self.opensAt = nil
        return true
    }
}
