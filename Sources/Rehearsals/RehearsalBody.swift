import Downloads
import HTTPServer
import HTTPTypes
import Locks

/// The body of a response, produced while it is sent. So a file of a terabyte needs no more memory than a small one,
/// and a slow file is a task that sleeps.
struct RehearsalBody: Sendable {
    let rehearsal: Rehearsal
    /// The announced bytes. Fewer are sent if the rehearsal includes a lost connection.
    let range: Range<Int64>

    func answering(_ method: HTTPRequest.Method) -> Body {
        // A response to HEAD needs only the length of the stream.
        method == .head ? .stream(ResponseStream(length: Int64(range.count))) : .stream(begin().stream)
    }

    /// Starts the task that writes the bytes. The task ends with the stream. It detects a disconnected client when it
    /// writes the next bytes.
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

    /// The interval of writes to a file with a duration: short enough for a steady flow, long enough that hundreds of
    /// files cost little.
    private static let step = Duration.milliseconds(200)
    private static let blockBytes: Int64 = 64 << 10
    /// One block is produced while the previous one is sent.
    private static let bufferLimit = 2 * Int(blockBytes)
}
