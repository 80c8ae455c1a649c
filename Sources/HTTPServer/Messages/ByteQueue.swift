// Bytes on their way from a writer to a slower reader.

/// A first-in, first-out queue of bytes.
struct ByteQueue {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }

    mutating func append(_ more: [UInt8]) {
        if start == bytes.count {
            bytes = more  // the usual case: the reader keeps up, and nothing is copied
            start = 0
        } else {
            // Dropping what was read costs a move of the rest: done only when that is the smaller half.
            if start > count {
                bytes.removeFirst(start)
                start = 0
            }
            bytes.append(contentsOf: more)
        }
    }

    /// Moves as many bytes as there are and as fit, and says how many.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let moved = min(count, buffer.count)
        bytes.withUnsafeBytes { source in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start..<start + moved]))
        }
        start += moved
        if start == bytes.count { removeAll() }
        return moved
    }

    mutating func removeAll() {
        bytes = []
        start = 0
    }
}
