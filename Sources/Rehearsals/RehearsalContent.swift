import Base
import Downloads
import HTTPServer
import HTTPTypes

/// The content of all rehearsed files. Each byte depends only on its position, so a range costs only its own size, and
/// a receiver can verify it.
///
/// The content is the sequence of SplitMix64 (Steele, Lea and Flood) with the seed 0, each number as eight bytes in
/// big-endian order. A shorter file is a prefix of a longer one.
public enum RehearsalContent {
    /// - Parameter range: positions, 0 or above.
    public static func bytes(_ range: Range<Int64>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            let space = UnsafeMutableRawBufferPointer(buffer)
            while count < space.count {
                let position = range.lowerBound + Int64(count)
                let skipped = Int(position % 8)
                let taken = min(8 - skipped, space.count - count)
                withUnsafeBytes(of: word(position / 8).bigEndian) { word in
                    UnsafeMutableRawBufferPointer(rebasing: space[count..<count + taken])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: word[skipped..<skipped + taken]))
                }
                count += taken
            }
        }
    }

    private static func word(_ index: Int64) -> UInt64 {
        var mixed = UInt64(index + 1) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

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
