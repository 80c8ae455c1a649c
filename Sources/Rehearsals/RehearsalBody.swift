import Downloads
import HTTPServer
import HTTPTypes
import Locks

/// The bytes of one answer, made while they are sent: a file of a terabyte takes no more memory than a small one, and
/// one that takes an hour is a task that sleeps.
struct RehearsalBody: Sendable {
    let rehearsal: Rehearsal
    /// What is announced. Less is sent when the rehearsal loses its connection.
    let range: Range<Int64>

    func answering(_ method: HTTPRequest.Method) -> Body {
        // To HEAD only the length matters, which a stream knows without its bytes.
        method == .head ? .stream(ResponseStream(length: Int64(range.count))) : .stream(begin().stream)
    }

    /// Starts to make the bytes. The task ends with the stream; that a client has gone shows when it is due more bytes.
    func begin() -> (stream: ResponseStream, task: Task<Void, Never>) {
        let work = Locked<Task<Void, Never>?>(nil)
        let stream = ResponseStream(length: Int64(range.count), bufferLimit: Self.bufferLimit) { _ in
            work.withLock { $0.take() }?.cancel()
        }
        let task = Task { await send(to: stream) }
        work.withLock { $0 = task }
        return (stream, task)
    }

    private func send(to stream: ResponseStream) async {
        let start = ContinuousClock.now
        let sent = rehearsal.sent(of: range)
        let bytesPerStep = max(1, rehearsal.bytesDue(after: Self.step))
        var position = sent.lowerBound
        while position < sent.upperBound {
            let next = min(sent.upperBound, position + bytesPerStep)
            try? await Task.sleep(until: start + rehearsal.time(of: next - range.lowerBound))
            if Task.isCancelled { return }
            while position < next {
                let end = min(next, position + Self.blockBytes)
                guard await stream.room(for: Int(end - position)) else { return }
                stream.write(RehearsalContent.bytes(position..<end))
                position = end
            }
        }
        stream.finish()
    }

    /// How often a file with a duration goes on: short enough to look like a flow, long enough for hundreds of them at
    /// once to cost next to nothing.
    private static let step = Duration.milliseconds(200)
    private static let blockBytes: Int64 = 64 << 10
    /// One block is made while the one before it is sent.
    private static let bufferLimit = 2 * Int(blockBytes)
}
